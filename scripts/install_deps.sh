#!/usr/bin/env bash
# Installs the Debian packages that are missing: what the build needs and, with --tests, what the tests need besides.
set -euo pipefail
source "$(dirname "$0")/common.sh"

build_packages=(
  cmake g++ ninja-build pkg-config python3 python3-venv
  libblis-serial-dev libcli11-dev libexpected-dev libfmt-dev libhwy-dev libpcre2-dev libtbb-dev libutf8proc-dev libxxhash-dev
  nlohmann-json3-dev
)
test_packages=(
  ccache clang-14 clang-format-14 clang-tidy-14 libbenchmark-dev libclang-rt-14-dev libgmock-dev libgtest-dev
  librapidcheck-dev time
)

wanted=("${build_packages[@]}")
case "${1:-}" in
  "") ;;
  --tests) wanted+=("${test_packages[@]}") ;;
  *) die "usage: scripts/install_deps.sh [--tests]" ;;
esac

command -v dpkg-query >/dev/null || die "this is not a Debian system; needed are: ${wanted[*]}"
missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done
# From wherever; Debian 12's package named cargo is too old.
scripts/find_cargo.sh >/dev/null || missing+=(cargo-web)

# What the build would otherwise download: the crates that Cargo.lock names.
fetch_crates() {
  local cargo
  cargo=$(scripts/find_cargo.sh) || die "no cargo of version 1.71 or newer that works"
  RUSTC=$(dirname "$cargo")/rustc "$cargo" fetch --quiet --locked --manifest-path src/tokenizer/jinja_rs/Cargo.toml ||
    die "cargo could not fetch the crates"
}

if [[ ${#missing[@]} -eq 0 ]]; then
  fetch_crates
  echo "all Debian packages and crates are there"
  exit 0
fi

as_root=()
if [[ $EUID -ne 0 ]]; then
  command -v sudo >/dev/null || die "these packages are missing, and only root can install them: ${missing[*]}"
  as_root=(sudo)
fi
install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --quiet --no-install-recommends "${missing[@]}"
}
echo "installing: ${missing[*]}"
# Package lists on a fresh machine may be absent or old; fetching them costs time, so only after a failure.
install || { "${as_root[@]}" apt-get update --quiet && install; } || die "apt-get could not install: ${missing[*]}"
fetch_crates
