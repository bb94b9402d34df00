# Helpers for the shell scripts of this project; sourced, not run. Leaves the caller in the project's folder.
cd "$(dirname "${BASH_SOURCE[0]}")/.."

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# step TITLE COMMAND...: runs the command under a heading and says how long it took.
step() {
  local title=$1 started=$SECONDS
  shift
  printf '\n==> %s\n' "$title"
  "$@" || die "$title failed"
  printf '    done in %d s\n' $((SECONDS - started))
}

# A Python of 3.11 or newer: the one in PATH, or Debian's.
find_python() {
  local candidate
  for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  die "no python3 of version 3.11 or newer"
}
