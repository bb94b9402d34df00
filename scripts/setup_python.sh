#!/usr/bin/env bash
# Makes .venv with the pinned wheels of requirements-test.txt. Does nothing when it is already as wanted.
set -euo pipefail
source "$(dirname "$0")/common.sh"

requirements=requirements-test.txt
stamp=.venv/requirements.stamp
# The package of this tree, for `headrace --engine iree` and for whoever uses .venv.
link_package() {
  local site
  site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  printf '%s\n' "$PWD/python" >"$site/headrace.pth"
}
if [[ -x .venv/bin/python ]] && cmp -s "$requirements" "$stamp"; then
  link_package
  echo ".venv is up to date"
  exit 0
fi
if [[ ! -x .venv/bin/pip ]]; then
  python=$(find_python)
  "$python" -m venv --clear .venv || die "$python cannot make a virtual environment (Debian: install python3-venv)"
fi
.venv/bin/python -m pip install --quiet --requirement "$requirements" || die "pip could not install $requirements"
link_package
cp "$requirements" "$stamp"
echo ".venv is ready: $(.venv/bin/python --version)"
