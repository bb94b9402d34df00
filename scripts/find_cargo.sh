#!/usr/bin/env bash
# Prints the path of a cargo that works, of version 1.71 or newer: the first of those in PATH, rustup's folder and
# Debian's. "First in PATH" alone does not do: rustup's is there without a toolchain too, and older ones are common.
set -euo pipefail

# works CARGO: with the rustc beside it, as the build calls it.
works() {
  local version rustc
  rustc=$(dirname "$1")/rustc
  version=$("$1" --version 2>/dev/null | cut -d ' ' -f 2) || return 1
  [[ -n $version && $(printf '%s\n' 1.71 "$version" | sort -V | head -1) == 1.71 ]] || return 1
  "$rustc" --version >/dev/null 2>&1
}

mapfile -t candidates < <(type -ap cargo || true)
for candidate in "${candidates[@]}" "${HOME:-}/.cargo/bin/cargo" /usr/bin/cargo; do
  if works "$candidate"; then
    printf '%s\n' "$candidate"
    exit
  fi
done
exit 1
