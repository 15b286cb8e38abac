#!/usr/bin/env bash
# Builds the server as it is to be run, into artifacts/server: compiled ahead for this machine, so that neither the start nor
# the first film waits for the compiler. For tools/run.sh and tools/measure.sh.
#
#   tools/publish.sh [property for the build...]      for example -p:Configuration=Debug
#
# Quiet unless it fails. Where the packages for compiling ahead cannot be had, the server is built without.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$root/artifacts/server
log=$(mktemp)
trap 'rm -f "$log"' EXIT

export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
cd "$root/backend"
project=src/Server/Server.csproj

quietly() { "$@" >"$log" 2>&1; }

fail() {
  cat "$log" >&2
  echo "publish.sh: $1 failed" >&2
  exit 1
}

ahead() {
  local platform
  platform=$(dotnet msbuild -getProperty:NETCoreSdkPortableRuntimeIdentifier "$project") || return 1
  quietly dotnet publish "$project" -c Release -r "$platform" --no-self-contained -p:PublishReadyToRun=true -o "$out" "$@"
}

quietly dotnet restore "$project" --locked-mode || fail "restoring the packages"
ahead "$@" && exit 0
quietly dotnet publish "$project" -c Release --no-self-contained -o "$out" "$@" || fail "the build"
echo "publish.sh: without code compiled ahead, because its packages could not be had; the first start takes longer" >&2
