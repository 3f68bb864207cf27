"""`python -m topicfocus` is the `topicfocus` command, and the command is this."""

import sys


def run() -> int:
    """The command; Ctrl-C while it is being imported ends it as any other does."""
    try:
        from topicfocus.cli.main import main
    except KeyboardInterrupt:
        print("topicfocus: interrupted", file=sys.stderr)
        return 130
    return main()


if __name__ == "__main__":
    sys.exit(run())
