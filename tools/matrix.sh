#!/usr/bin/env bash
# The standard matrix: FullNzbTester measures layouts, round trips and faults with the engine in its own process and the mock news server
# in another, and compares the figures with docs/measured/matrix/. It measures times, so it is not a test: run it by hand on an idle
# machine before a release and after a change of the read path.
#
#   tools/matrix.sh              measures and compares; the last line of each cell reports whether it got worse
#   tools/matrix.sh --store      measures and replaces the stored results
#   tools/matrix.sh --layouts    measures every intact layout once at 50 ms, as a table of import, heads and speed; compares nothing
#
# TOLERANCE is the allowed change in percent (10), SIZE the number of MiB to read (200). BUILD=no uses the existing build.
# Exit code: 0, 1 if a byte was wrong or a step failed, 3 if a figure is worse.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tester=$root/tools/FullNzbTester/bin/Release/net10.0/Sluice.Tools.FullNzbTester.dll
stored=$root/docs/measured/matrix
results=$root/artifacts/matrix
size=${SIZE:-200}

all=no
case "${1:-}" in
  "") store=no ;;
  --store) store=yes ;;
  --layouts) store=no all=yes ;;
  *) sed -n '2,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac

export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
if [ "${BUILD:-yes}" = yes ]; then
  (cd "$root/backend" && dotnet build ../tools/FullNzbTester -c Release -v quiet) >&2 || exit 1
fi

# Runs in the folder of the results, because a result contains its flags and must not contain a path of this machine.
rm -rf "$results"; mkdir -p "$results"; cd "$results" || exit 1

worst=0
measure() {
  local name=$1 code; shift
  local flags=(--mock-server --size="$size" --limit="$size" --seeks=0 --quiet --json="$name.json" "$@")
  [ "$store" = yes ] || [ ! -f "$stored/$name.json" ] || flags+=(--compare="$stored/$name.json" --tolerance="${TOLERANCE:-10}")
  dotnet "$tester" "${flags[@]}" >"$results/$name.txt" 2>&1
  code=$?
  printf '%-22s exit %-3d' "$name" "$code"
  [ "$all" = no ] || printf '%s' "$(grep -E '^ IMPORT' "$results/$name.txt")"
  printf '%s\n' "$(grep -E '^ STREAM' "$results/$name.txt")"
  grep -E '(^FAILED| worse$)' "$results/$name.txt" | sed 's/^/    /'
  case "$code" in
    0) ;;
    3) [ "$worst" != 0 ] || worst=3 ;;
    *) worst=1 ;;
  esac
}

# Returns the number of volumes in a set of a layout. Plain files have none, and a zip or tar is one file.
volumes() {
  case "$1" in
    plain | pack | zip | tar) ;;
    *) echo "--volumes=${2:-100}" ;;
  esac
}

if [ "$all" = yes ]; then
  for layout in plain pack split rar4 rar4-enc rar5 rar5-enc rar5-hdrenc 7z 7z-enc zip tar nested; do
    measure "$layout" --layout="$layout" $(volumes "$layout") --steps=1-4,7
  done
  measure rar5-obfuscated --layout=rar5 --volumes=100 --obfuscate --par2=10 --steps=1-4,7
  measure season-612 --layout=rar5 --files=12 --volumes=51 --steps=1-4,7
  exit "$worst"
fi

for layout in plain rar5 7z-enc pack; do
  for latency in 10 50 150; do
    line=(--layout="$layout" $(volumes "$layout") --latency="$latency" --jitter=$((latency / 5)))
    measure "$layout-$latency-clean" "${line[@]}"
    measure "$layout-$latency-stall" "${line[@]}" --stall=0.01
    measure "$layout-$latency-missing" "${line[@]}" --providers=2 --coverage=0.99,1.0
  done
done

if [ "$store" = yes ]; then
  [ "$worst" != 1 ] || { echo "matrix.sh: nothing stored, because something failed" >&2; exit 1; }
  mkdir -p "$stored" && cp "$results"/*.json "$stored"/
fi
exit "$worst"
