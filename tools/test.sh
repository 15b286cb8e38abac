#!/usr/bin/env bash
# Sets up and runs every test: build, format check, unit and wire tests, end-to-end tests, minutes of everything at once (chaos),
# starts over damaged folders, and tools/clients.sh.
#
#   tools/test.sh           what a change has to pass
#   tools/test.sh --quick   without the end-to-end tests and the clients
#   tools/test.sh --long    with the soaks and timed bars that do not fit the normal run
#
# The last line reads "N passed, N failed, N skipped"; the exit code is 0 only when something ran and nothing failed.
# What is skipped says why on a line of its own, and has not passed.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
results=$root/artifacts/test-results
passed=0 failed=0 skipped=0
took=()

case "${1:-}" in
  "") end_to_end=yes long=no ;;
  --quick) end_to_end=no long=no ;;
  --long) end_to_end=yes long=yes ;;
  *) sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac

finish() {
  # A long log is often cut short before it is read: what failed is named at its end.
  grep -aho '<test [^<]* result="Fail"' "$results"/*.xml 2>/dev/null | sed 's/.* name="\([^"]*\)".*/test.sh: failed: \1/'
  [ ! -e "$results/clients.txt" ] || grep -a ' FAILED$' "$results/clients.txt" | sed 's/^/test.sh: failed: /'
  [ ${#took[@]} = 0 ] || printf 'test.sh: %s\n' "${took[@]}"
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
  exit
}

# A step that is no test: it counts only when it fails.
check() {
  local what=$1; shift
  echo "== $what"
  "$@" || { echo "test.sh: $what failed"; failed=$((failed + 1)); return 1; }
}

# Programs that some end-to-end tests drive; a test whose program is absent is skipped.
install_programs() {
  local program missing=()
  for program in curl ffmpeg litmus rclone wrk; do
    command -v "$program" >/dev/null || missing+=("$program")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null \
    && apt-get update -qq >/dev/null 2>&1 \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null 2>&1; then
    echo "test.sh: installed ${missing[*]}"
  else
    echo "test.sh: could not install ${missing[*]}; the tests that need them are skipped"
  fi
}

# Notes how long a part has taken, beside the minutes that it may take on two quiet cores.
note_time() {
  local name=$1 began=$2 ceiling=$3 seconds
  seconds=$((SECONDS - began))
  took+=("$name took $((seconds / 60)) min $((seconds % 60)) s of $ceiling min$([ "$seconds" -le $((ceiling * 60)) ] || echo ', which is too long')")
}

# Runs the tests of one project that match the filters, and adds its counts.
run_tests() {
  local name=$1 project=$2; shift 2
  local report=$results/$name.xml program code counts
  program=$root/backend/tests/$project/bin/Release/net10.0/Sluice.$project
  echo "== $name"
  timeout 3600 "$program" -noLogo -noColor -xml "$report" "$@"
  code=$?
  counts=$(sed -n 's/.*<assembly \([^>]*\)>.*/\1/p' "$report" 2>/dev/null | head -n 1)
  if [ -z "$counts" ]; then
    echo "test.sh: $name left no report (exit code $code)"
    failed=$((failed + 1))
    return
  fi
  local here_failed=$(($(count failed "$counts") + $(count errors "$counts")))
  # A run that ends badly without a failed test has failed all the same, and so has one without tests.
  [ "$here_failed" -gt 0 ] || { [ "$code" = 0 ] && [ "$(count total "$counts")" -gt 0 ]; } || here_failed=1
  passed=$((passed + $(count passed "$counts")))
  failed=$((failed + here_failed))
  skipped=$((skipped + $(count skipped "$counts")))
}

# The programs that people use, each against a running server; one line says which cannot be had here.
run_clients() {
  local report=$results/clients.txt
  echo "== clients"
  timeout 1200 "$root/tools/clients.sh" --built | tee "$report"
  if [[ $(tail -n 1 "$report") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2])) skipped=$((skipped + BASH_REMATCH[3]))
  else
    echo "test.sh: clients left no counts"
    failed=$((failed + 1))
  fi
}

count() { sed -n "s/.*\\b$1=\"\\([0-9]*\\)\".*/\\1/p" <<<" $2" | grep . || echo 0; }

cd "$root/backend"
rm -rf "$results"; mkdir -p "$results"
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
if ! dotnet --version >/dev/null 2>&1; then
  echo "test.sh: the .NET SDK $(sed -n 's/.*"version": *"\([^"]*\)".*/\1/p' global.json) is not installed (https://dot.net)"
  failed=1
  finish
fi
[ "$end_to_end" = no ] || install_programs

# Without a build there is nothing to test; a wrong format says nothing about the tests.
check "restore" dotnet restore Backend.slnx --locked-mode -v quiet || finish
check "build" dotnet build Backend.slnx -c Release --no-restore -v quiet || finish
check "format" dotnet format Backend.slnx --verify-no-changes --no-restore

began=$SECONDS
run_tests engine Usenet.Tests -trait- Category=EndToEnd -trait- Category=Long
run_tests server Server.Tests -trait- Category=EndToEnd -trait- Category=Starts -trait- Category=Chaos -trait- Category=Long
note_time "engine and server" "$began" 9
if [ "$end_to_end" = yes ]; then
  began=$SECONDS; run_tests end-to-end Server.Tests -trait Category=EndToEnd -trait- Category=Starts; note_time end-to-end "$began" 9
  began=$SECONDS; run_tests chaos Server.Tests -trait Category=Chaos; note_time chaos "$began" 3
  began=$SECONDS; run_tests starts Server.Tests -trait Category=Starts; note_time starts "$began" 2
  began=$SECONDS; run_clients; note_time clients "$began" 3
fi
[ "$long" = no ] || run_tests long-engine Usenet.Tests -trait Category=Long
[ "$long" = no ] || run_tests long Server.Tests -trait Category=Long
finish
