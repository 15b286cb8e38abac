#!/usr/bin/env bash
# Installs missing programs, builds Sluice and starts it in the foreground.
#
#   tools/run.sh [--port N] [--data DIR]
#
# --port N    port to listen on; default $PORT or 3000
# --data DIR  data folder; default $CONFIG_PATH or data/ next to README.md
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
data=${CONFIG_PATH:-$root/data}

usage() { sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

while [ $# -gt 0 ]; do
  case "$1" in
    --port) [ $# -gt 1 ] || { usage >&2; exit 2; }; export PORT=$2; shift 2 ;;
    --port=*) export PORT=${1#*=}; shift ;;
    --data) [ $# -gt 1 ] || { usage >&2; exit 2; }; data=$2; shift 2 ;;
    --data=*) data=${1#*=}; shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

# Resolves a relative data folder against the caller's folder, because this script changes its own.
case "$data" in
  /*) ;;
  *) data=$PWD/$data ;;
esac

export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
cd "$root/backend"
sdk=$(sed -n 's/.*"version": *"\([^"]*\)".*/\1/p' global.json)

# Whether `dotnet` finds an SDK that global.json accepts.
has_sdk() { dotnet --version >/dev/null 2>&1; }

# Installs the distribution's package if there is one and no question is needed.
install_sdk() {
  [ "$(id -u)" = 0 ] || return 1
  if command -v apt-get >/dev/null; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends dotnet-sdk-10.0
  elif command -v dnf >/dev/null; then
    dnf install -y -q dotnet-sdk-10.0
  elif command -v apk >/dev/null; then
    apk add --quiet dotnet10-sdk
  else
    return 1
  fi
}

if ! has_sdk; then
  echo "run.sh: installing the .NET SDK 10" >&2
  install_sdk >/dev/null 2>&1 || true
  if ! has_sdk; then
    echo "run.sh: the .NET SDK $sdk (or a later patch of it) could not be installed from a package; get it from https://dot.net" >&2
    exit 1
  fi
fi

# Quiet unless it fails, because the output of the first start must stay visible. Includes the web UI if Node.js is available.
echo "run.sh: building" >&2
# The analyzers check the code of a change, not of a start.
"$root/tools/publish.sh" -p:RunAnalyzers=false

cd "$OLDPWD"
export CONFIG_PATH=$data
exec dotnet "$root/artifacts/server/Sluice.Server.dll"
