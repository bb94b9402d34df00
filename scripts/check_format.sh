#!/usr/bin/env bash
# Is every C++ file formatted?   --fix formats instead.
set -euo pipefail
source "$(dirname "$0")/common.sh"

mode=(--dry-run --Werror)
case "${1:-}" in
  "") ;;
  --fix) mode=(-i) ;;
  *) die "usage: scripts/check_format.sh [--fix]" ;;
esac
git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.h' '*.c' ':!third_party' | xargs -0 -r clang-format-14 "${mode[@]}"
