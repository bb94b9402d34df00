"""Tests use the package from the checkout, in processes they start too; those have the usual effect of signals."""

import os
import signal
import sys
from pathlib import Path

PACKAGE = str(Path(__file__).resolve().parents[1] / "python")
sys.path.insert(0, PACKAGE)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [PACKAGE, os.environ.get("PYTHONPATH")]))

# nohup and background shells ignore some, which programs that tests start would inherit. A handler that does nothing is not inherited.
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, lambda *_: None)
