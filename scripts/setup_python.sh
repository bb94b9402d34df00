#!/usr/bin/env bash
# Makes .venv with the pinned wheels of requirements-test.txt. Does nothing when it is already as wanted.
set -euo pipefail
source "$(dirname "$0")/common.sh"

requirements=requirements-test.txt
stamp=.venv/requirements.stamp
if [[ -x .venv/bin/python ]] && cmp -s "$requirements" "$stamp"; then
  echo ".venv is up to date"
  exit 0
fi
if [[ ! -x .venv/bin/pip ]]; then
  python=$(find_python)
  "$python" -m venv --clear .venv || die "$python cannot make a virtual environment (Debian: install python3-venv)"
fi
.venv/bin/python -m pip install --quiet --requirement "$requirements" || die "pip could not install $requirements"
cp "$requirements" "$stamp"
echo ".venv is ready: $(.venv/bin/python --version)"
