"""The `topicfocus` command, also as `python -m topicfocus`."""

import os
import sys
import threading

#: Seconds that an interrupted process waits for its threads before it ends.
_PATIENCE = 5.0


def run() -> int:
    """Run the command and return its exit code."""
    try:
        from topicfocus.cli.main import INTERRUPTED, main
    except KeyboardInterrupt:
        print("topicfocus: interrupted", file=sys.stderr)
        return 130
    code = main()
    if code == INTERRUPTED:
        end = threading.Timer(_PATIENCE, os._exit, [code])
        end.daemon = True
        end.start()
    return code


if __name__ == "__main__":
    sys.exit(run())
