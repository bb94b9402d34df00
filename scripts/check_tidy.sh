#!/usr/bin/env bash
# clang-tidy over the library and the tools, with the checks of .clang-tidy. Tests are left to the compiler's warnings.
# Arguments, if any, are regular expressions of source paths.
set -euo pipefail
source "$(dirname "$0")/common.sh"

[[ -f build/dev/compile_commands.json ]] || cmake --preset dev >/dev/null
sources=("$@")
[[ $# -gt 0 ]] || sources=("$PWD/src/(?!.*_(test|testing)\.cpp)")
log=build/dev/clang-tidy.log
if ! run-clang-tidy-14 -quiet -p build/dev -j "$(nproc)" "${sources[@]}" >"$log" 2>&1; then
  sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -E '(warning|error):' | sort -u || tail -20 "$log"
  die "clang-tidy has findings; the whole report is $log"
fi
