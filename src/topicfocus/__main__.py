"""The `topicfocus` command, also as `python -m topicfocus`."""

import os
import sys


def run() -> int:
    """Run the command; an interrupted one ends without waiting for its threads."""
    try:
        from topicfocus.cli.main import INTERRUPTED, main
    except KeyboardInterrupt:
        print("topicfocus: interrupted", file=sys.stderr)
        return 130
    code = main()
    if code == INTERRUPTED:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(run())
