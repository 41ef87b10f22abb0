"""`python -m hindsight.interfaces.cli`: the command line without its installed script."""

import sys

from hindsight.interfaces.cli.main import main

sys.exit(main())
