#!/usr/bin/env bash
# Builds the web UI into backend/src/Server/wwwroot, where tools/publish.sh takes it from. Used by tools/run.sh, tools/publish.sh and
# tools/test.sh.
#
#   tools/frontend.sh              builds changed parts: packages if the lock file has changed, pages if a source has
#   tools/frontend.sh --packages   installs the packages only
#
# Prints one line about its work, or nothing if there is none. Needs Node.js 24; tools/node.sh gets it from npm if the machine's own is
# older. Without Node.js or without a UI to build, it exits with code 3 and one line, and the server is built without the UI.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
pages=$root/backend/src/Server/wwwroot
log=$(mktemp)
trap 'rm -f "$log"' EXIT

skip() { echo "frontend.sh: without the web UI, because $1" >&2; exit 3; }

# step WHAT COMMAND...: runs a command, quietly unless it fails.
step() {
  local what=$1; shift
  "$@" >"$log" 2>&1 || { cat "$log" >&2; echo "frontend.sh: $what failed" >&2; exit 1; }
}

# Returns one checksum for the bytes and names of all given files.
digest() { xargs -0 sha256sum | sha256sum | cut -d ' ' -f 1; }

[ -e "$root/frontend/package.json" ] || skip "there is no frontend/package.json"
source "$root/tools/node.sh"
[ -z "$node_missing" ] || skip "$node_missing"
command -v npm >/dev/null || skip "npm is not installed"
cd "$root/frontend" || exit 1
# One run at a time, because two would install the same packages. Without flock (macOS) the caller has to wait.
mkdir -p "$root/artifacts"
! command -v flock >/dev/null || { exec 9>"$root/artifacts/frontend.lock" && flock 9; }

lock=$(printf 'package-lock.json\0' | digest)
if [ "$(cat node_modules/.sluice-lock 2>/dev/null)" != "$lock" ]; then
  echo "frontend.sh: installing the packages of the web UI" >&2
  step "npm ci" with_node npm ci --no-audit --no-fund
  mkdir -p node_modules
  echo "$lock" >node_modules/.sluice-lock
fi
[ "${1:-}" != --packages ] || exit 0

sources=$(find . -path ./node_modules -prune -o -type f -print0 | LC_ALL=C sort -z | digest)
stamp=$root/artifacts/frontend.stamp
if [ ! -e "$pages/index.html" ] || [ "$(cat "$stamp" 2>/dev/null)" != "$sources" ]; then
  echo "frontend.sh: building the web UI" >&2
  step "npm run build" with_node npm run build
  echo "$sources" >"$stamp"
fi
