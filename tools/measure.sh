#!/usr/bin/env bash
# Measures a server from outside: builds Sluice and FullNzbTester, starts the server on a new data folder with the mock news
# server as its provider, runs FullNzbTester --server against it, and stops it.
#
#   tools/measure.sh [flags of FullNzbTester]         for example --size=500 --limit=500 --latency=50 --runs=3
#   tools/measure.sh --list                           the flags
#   tools/measure.sh [flags] --then [flags] ...       several runs of FullNzbTester on one server, each with its own mock
#
# The server has default settings except for the provider; a variable such as SLUICE_CONFIG__USENET__READ_AHEAD_MB=64 before the
# command changes one. FORM=aot measures the AOT build. BUILD=no uses the existing build, SERVER=FILE another build of the server
# (its .dll or an executable), CONFIGURATION=Debug a debug build of the tester. KEEP_LOG=FILE keeps the server's log.
# Exit code and output come from FullNzbTester.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
configuration=${CONFIGURATION:-Release}
tester=$root/tools/FullNzbTester/bin/$configuration/net10.0/Sluice.Tools.FullNzbTester.dll
publish=()
server=$root/artifacts/server/Sluice.Server.dll
[ "${FORM:-}" != aot ] || { publish=(--aot); server=$root/artifacts/server-aot/Sluice.Server; }
server=${SERVER:-$server}
connections=20 providers=1 tls=false

flags=("$@")
for ((i = 0; i < ${#flags[@]}; i++)); do
  value=${flags[i]#*=}
  case "${flags[i]}" in
    --list) exec dotnet "$tester" --help ;;
    --connections) connections=${flags[i + 1]} ;;
    --connections=*) connections=$value ;;
    --providers) providers=${flags[i + 1]} ;;
    --providers=*) providers=$value ;;
    --tls) tls=true ;;
    --server | --server=* | --mock-port | --mock-port=* | --pid | --pid=*) echo "measure.sh: ${flags[i]} is set by this script" >&2; exit 2 ;;
  esac
done

export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
if [ "${BUILD:-yes}" = yes ]; then
  "$root/tools/publish.sh" ${publish[@]+"${publish[@]}"}
  (cd "$root/backend" && dotnet build ../tools/FullNzbTester -c "$configuration" -v quiet) >&2
fi

# Returns currently free ports; the mock's ports are consecutive.
free_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 10000))
    for ((i = 0; i < $1; i++)); do
      (exec 3<>"/dev/tcp/127.0.0.1/$((port + i))") 2>/dev/null && continue 2
    done
    echo "$port"
    return
  done
}

port=$(free_port 1) mock=$(free_port "$providers")
elements=
for ((i = 0; i < providers; i++)); do
  elements+=${elements:+,}$(printf '{"Nickname":"mock-%d","Host":"127.0.0.1","Port":%d,"UseSsl":%s,"SkipTlsVerification":%s,"MaxConnections":%d,"Type":1,"Priority":%d}' \
    "$i" $((mock + i)) "$tls" "$tls" "$connections" "$i")
done

case "$server" in
  *.dll) command=(dotnet "$server") ;;
  *) command=("$server") ;;
esac

data=$(mktemp -d) pid=
cleanup() {
  if [ -n "$pid" ]; then
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  fi
  rm -rf "$data"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

SLUICE_CONFIG__USENET__PROVIDERS="{\"Providers\":[$elements]}" \
SLUICE_CONFIG__WEBDAV__USER=admin SLUICE_CONFIG__WEBDAV__PASS=measure-only-1 SLUICE_CONFIG__API__KEY=0123456789abcdef0123456789abcdef \
CONFIG_PATH=$data/data PORT=$port BIND_ADDRESS=127.0.0.1 "${command[@]}" >"$data/log" 2>&1 &
pid=$!

for ((i = 0; i < 300; i++)); do
  kill -0 "$pid" 2>/dev/null || { cat "$data/log" >&2; echo "measure.sh: the server did not start" >&2; exit 1; }
  curl -fs "http://127.0.0.1:$port/readyz" >/dev/null 2>&1 && break
  sleep 0.1
done

code=0
measure() {
  local result=0
  MEASURE_KEY=0123456789abcdef0123456789abcdef MEASURE_PASS=measure-only-1 \
    dotnet "$tester" --mock-server --mock-port="$mock" --server="http://127.0.0.1:$port" --api-key-env=MEASURE_KEY \
    --webdav-pass-env=MEASURE_PASS --pid="$pid" "$@" || result=$?
  [ "$result" -le "$code" ] || code=$result
}

call=()
for flag in "$@"; do
  if [ "$flag" = --then ]; then
    measure "${call[@]}"
    call=()
  else
    call+=("$flag")
  fi
done
measure "${call[@]}"
[ "$code" -le 1 ] && [ -z "${KEEP_LOG:-}" ] || cp "$data/log" "${KEEP_LOG:-/dev/stderr}"
exit "$code"
