#!/usr/bin/env bash
# Installs, builds and runs every test. Goes on after a failed check, ends with a verdict, and exits non-zero on any
# failure.   ./test.sh [--fast]   (--fast leaves out clang-tidy, the sanitizer build and fuzzing)
set -euo pipefail
source "$(dirname "$0")/scripts/common.sh"

fast=false
case "${1:-}" in
  "") ;;
  --fast) fast=true ;;
  *) die "usage: ./test.sh [--fast]" ;;
esac

failed=()
# check TITLE COMMAND...: like step, but a failure is noted and the run goes on.
check() {
  local title=$1 started=$SECONDS verdict=passed
  shift
  printf '\n==> %s\n' "$title"
  "$@" || { verdict=FAILED; failed+=("$title"); }
  printf '    %s in %d s\n' "$verdict" $((SECONDS - started))
}

build() {
  cmake --preset "$1" >/dev/null &&
    cmake --build --preset "$1"
}
sanitized_tests() { build asan && ctest --preset asan; }
python_tests() {
  HEADRACE_BIN=$PWD/build/dev/headrace PYTHONPATH=$PWD/python${PYTHONPATH:+:$PYTHONPATH} \
    .venv/bin/python -m pytest -q tests
}

step "Debian packages" scripts/install_deps.sh --tests
step "Python environment (.venv)" scripts/setup_python.sh
step "models" scripts/get_model.sh all
step "build (dev)" build dev
check "tests (dev)" ctest --preset dev
check "formatting" scripts/check_format.sh
check "engine and Python tests" python_tests
if ! $fast; then
  check "clang-tidy" scripts/check_tidy.sh
  check "tests under AddressSanitizer and UndefinedBehaviorSanitizer" sanitized_tests
  check "fuzzing, 15 s a target" scripts/fuzz.sh --seconds 15
fi

printf '\n'
if [[ ${#failed[@]} -gt 0 ]]; then
  printf 'FAILED: %s\n' "${failed[@]}"
  exit 1
fi
printf 'PASSED: everything, in %d s\n' "$SECONDS"
