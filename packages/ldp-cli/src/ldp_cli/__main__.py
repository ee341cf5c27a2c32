"""``python -m ldp_cli`` is ``ldp``."""

import sys

from ldp_cli.main import main

sys.exit(main())
