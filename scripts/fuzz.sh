#!/usr/bin/env bash
# Builds the fuzz targets and runs them one after the other: all of fuzz/*_fuzz.cpp, or those named.
#   scripts/fuzz.sh [--seconds N | --cpu-seconds N] [--corpus DIR] [TARGET...]
# N is for each target: of the clock (default 15), or of the processor, for long runs beside other work: it then takes as many
# rounds as it needs. --corpus keeps what is found interesting in DIR/<target>, so that a later run goes on from there; without it
# that is thrown away. Inputs that crash, hang or take too much memory are written to build/fuzz/found/. Ends with a table of
# executions, processor seconds and coverage: edges reached of those instrumented (the whole library and the target), and
# libFuzzer's features (edges by how often they ran). See docs/fuzzing.md.
set -euo pipefail
source "$(dirname "$0")/common.sh"

usage() { die "usage: scripts/fuzz.sh [--seconds N | --cpu-seconds N] [--corpus DIR] [TARGET...]"; }

seconds=15
cpu_seconds=
corpus=
targets=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --seconds) seconds=${2:?}; shift 2 ;;
    --cpu-seconds) cpu_seconds=${2:?}; shift 2 ;;
    --corpus) corpus=${2:?}; shift 2 ;;
    -*) usage ;;
    *) targets+=("$1"); shift ;;
  esac
done
[[ $seconds$cpu_seconds =~ ^[0-9]+$ ]] || usage
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
options=(-timeout=10 -malloc_limit_mb=512 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 -artifact_prefix="$found/")

# run_round TARGET SECONDS LOG: one process. Adds to `executions` and `used` (processor milliseconds), sets `coverage`.
run_round() {
  local target=$1 length=$2 log=$3 dictionary=() status=0 time
  mkdir -p "$corpus/$target"
  [[ -f fuzz/$target.dict ]] && dictionary=(-dict="fuzz/$target.dict")
  local TIMEFORMAT='%U %S'
  time=$({ time build/fuzz/"${target}_fuzz" "${options[@]}" -max_total_time="$length" "${dictionary[@]}" \
    "$corpus/$target" "testdata/fuzz/$target" >"$log" 2>&1; } 2>&1) || status=$?
  used=$((used + $(awk '{ printf "%d", ($1 + $2) * 1000 }' <<<"$time")))
  executions=$((executions + $(awk '/^stat::number_of_executed_units/ { n = $2 } END { print n + 0 }' "$log")))
  coverage=$(awk '
    /^INFO: Loaded .* inline 8-bit counters/ { gsub(/[^0-9 ]/, ""); total = $2 }
    / cov: / { for (i = 1; i < NF; i++) { if ($i == "cov:") edges = $(i + 1); if ($i == "ft:") features = $(i + 1) } }
    END { printf "%d of %d edges, %d features", edges, total, features }' "$log")
  return "$status"
}

failed=()
table=()
for target in "${targets[@]}"; do
  if [[ -n $cpu_seconds ]]; then length="$cpu_seconds s of processor time"; else length="$seconds s"; fi
  printf '==> %s, %s\n' "$target" "$length"
  executions=0 used=0 coverage=
  left=${cpu_seconds:-$seconds}
  while true; do
    log=build/fuzz/$target.log
    if ! run_round "$target" "$left" "$log"; then
      failed+=("$target")
      tail -n 60 "$log"
      break
    fi
    [[ -n $cpu_seconds ]] || break
    left=$((cpu_seconds - used / 1000))
    [[ $left -gt 0 ]] || break
  done
  table+=("$(printf '%-12s %12d executions %7d CPU s   %s' "$target" "$executions" $((used / 1000)) "$coverage")")
  printf '%s\n' "${table[-1]}"
done
printf '\n'
printf '%s\n' "${table[@]}"
[[ ${#failed[@]} -eq 0 ]] || die "found faults: ${failed[*]}; the inputs are in $found"
