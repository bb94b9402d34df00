#!/usr/bin/env bash
# Builds the fuzz targets and runs them one after the other: all of fuzz/*_fuzz.cpp, or those named.
#   scripts/fuzz.sh [--seconds N] [--corpus DIR] [TARGET...]
# --seconds is for each target (default 15). --corpus keeps what is found interesting in DIR/<target>, so that a later run
# goes on from there; without it that is thrown away. Inputs that crash, hang or take too much memory are written to
# build/fuzz/found/. See docs/fuzzing.md.
set -euo pipefail
source "$(dirname "$0")/common.sh"

usage() { die "usage: scripts/fuzz.sh [--seconds N] [--corpus DIR] [TARGET...]"; }

seconds=15
corpus=
targets=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --seconds) seconds=${2:?}; shift 2 ;;
    --corpus) corpus=${2:?}; shift 2 ;;
    -*) usage ;;
    *) targets+=("$1"); shift ;;
  esac
done
[[ $seconds =~ ^[0-9]+$ ]] || usage
if [[ ${#targets[@]} -eq 0 ]]; then
  for source in fuzz/*_fuzz.cpp; do
    name=${source#fuzz/}
    targets+=("${name%_fuzz.cpp}")
  done
fi
for target in "${targets[@]}"; do
  [[ -f fuzz/${target}_fuzz.cpp ]] || die "no target '$target': fuzz/${target}_fuzz.cpp is not there"
done

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target "${targets[@]/%/_fuzz}"

if [[ -z $corpus ]]; then
  corpus=$(mktemp -d)
  trap 'rm -rf "$corpus"' EXIT
fi
found=build/fuzz/found
mkdir -p "$found"
# One allocation of more than 512 MB is refused in any case; the rule itself (four times the input and 16 MB) is counted by the
# targets (fuzz/memory.cpp).
options=(-max_total_time="$seconds" -timeout=10 -malloc_limit_mb=512 -rss_limit_mb=2048 -max_len=65536
  -print_final_stats=1 -artifact_prefix="$found/")
failed=()
for target in "${targets[@]}"; do
  mkdir -p "$corpus/$target"
  dictionary=()
  [[ -f fuzz/$target.dict ]] && dictionary=(-dict="fuzz/$target.dict")
  printf '==> %s, %d s\n' "$target" "$seconds"
  log=build/fuzz/$target.log
  if build/fuzz/"${target}_fuzz" "${options[@]}" "${dictionary[@]}" "$corpus/$target" "testdata/fuzz/$target" >"$log" 2>&1; then
    grep -E '^#[0-9]+.*(DONE)|stat::number_of_executed_units|stat::peak_rss_mb' "$log" || true
  else
    failed+=("$target")
    tail -n 60 "$log"
  fi
done
[[ ${#failed[@]} -eq 0 ]] || die "found faults: ${failed[*]}; the inputs are in $found"
