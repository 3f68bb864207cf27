"""`python -m topicfocus` is the `topicfocus` command."""

import sys

from topicfocus.cli.main import main

sys.exit(main())
