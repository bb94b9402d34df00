"""Tests use the package from the checkout, in processes they start too."""

import os
import sys
from pathlib import Path

PACKAGE = str(Path(__file__).resolve().parents[1] / "python")
sys.path.insert(0, PACKAGE)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [PACKAGE, os.environ.get("PYTHONPATH")]))
