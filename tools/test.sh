#!/usr/bin/env bash
# Installs missing programs and runs the tests.
#
#   tools/test.sh           the gate of a change: build, unit and wire tests, the web UI, end-to-end tests that decide, and the long
#                           parts whose files have changed (tools/parts.sh)
#   tools/test.sh --quick   build, lint, and the tests that open neither a database nor a socket
#   tools/test.sh --all     everything: each part, the tests that measure, one at a time, and all tests against the shipped form too
#   tools/test.sh --long    only the tests that take over five minutes by design
#   tools/test.sh PART...   only these parts: kills starts chaos soak clients browser-long image archive ships
#
# Tests start the ordinary form of the server. The part "ships" builds the shipped form (tools/publish.sh --aot), and runs the starts and one
# test for each room against it; --all runs every end-to-end test against it.
# Sections that leave a core idle run concurrently, and print their output at their end.
# A skipped test prints its reason on a line of its own, and does not count as passed. At the end come the failures, the ten slowest tests, and
# a table of the parts with reason and duration. The last line reads "N passed, N failed, N skipped"; the exit code is 0 only if something ran
# and nothing failed.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
results=$root/artifacts/test-results
published=$root/artifacts/server/Sluice.Server
shipped=$root/artifacts/server-aot/Sluice.Server
passed=0 failed=0 skipped=0
rows=() failures=()
parts=() aside=() built=no ahead=unbuilt

usage() { sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }

case "${1:-}" in
  "") mode=gate ;;
  --quick | --all | --long) mode=${1#--} ;;
  -*) usage ;;
  *)
    mode=parts
    for part in "$@"; do "$root/tools/parts.sh" --table | cut -f 1 | grep -qx -- "$part" || usage; done
    parts=("$@") ;;
esac

finish() {
  # A long log is often truncated, so the failures with their messages are repeated at its end.
  list_failed_in_xunit
  list_failed_in_vitest
  grep -ahs ' FAILED$' "$results"/clients*.txt | sed 's/^/test.sh: failed: /'
  grep -ahs '^FAILED: ' "$results/image.txt" "$results/stages.txt" "$results/archive.txt" | sed 's/^FAILED/test.sh: failed/'
  [ ${#failures[@]} = 0 ] || printf 'test.sh: failed: %s\n' "${failures[@]}"
  list_slowest
  [ ${#rows[@]} = 0 ] || printf 'test.sh: %s\n' "${rows[@]}"
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
  exit
}

# Lists failures from the server's reports: tests, and errors outside of tests. A message may have many lines, so it is cut to 600 characters.
list_failed_in_xunit() {
  local report
  for report in "$results"/*.xml; do
    [ ! -e "$report" ] || tr -s '\n ' ' ' <"$report" | grep -aoP '<(test [^>]* result="Fail"|error [^>]*>).*?</message>' \
      | sed -E 's/^<(test|error) [^>]*\bname="([^"]*)".*<message>(<!\[CDATA\[)?/test.sh: failed: \2: /; s/(\]\]>)?<\/message>$//' | cut -c 1-600
  done
}

# Lists failures from the reports of the web UI: tests, and errors of a file's set-up, which skips its tests. Errors outside of tests are only
# in the log.
list_failed_in_vitest() {
  local report
  for report in "$results"/*.json; do
    [ ! -e "$report" ] || node -p "JSON.parse(require('fs').readFileSync('$report')).testResults.flatMap(file => [
        ...(file.message ? [[file.name.split('/').pop(), file.message]] : []),
        ...file.assertionResults.filter(test => test.status === 'failed').map(test => [test.fullName, test.failureMessages[0] ?? ''])])
      .map(([name, message]) => 'test.sh: failed: ' + name + ': ' + message.slice(0, 600).replaceAll('\\n', ' ')).join('\\n')" | grep .
  done
  sed 's/\x1b\[[0-9;]*m//g' "$results"/vitest-*.txt 2>/dev/null | grep -a -A 3 'Unhandled \(Rejection\|Error\|Exception\) ' | grep -a 'Error: ' | sed 's/^/test.sh: failed: outside of tests: /'
}

# Lists the ten slowest tests of the run.
list_slowest() {
  grep -aho '<test [^>]*' "$results"/*.xml 2>/dev/null | sed -n 's/.* name="\([^"]*\)".* time="\([0-9]*\.\?[0-9]\?\)[0-9]*".*/\2 s  \1/p' \
    | sort -rn | head -n 10 | sed 's/^/test.sh: slow: /'
}

# Runs a step that is not a test, so it counts only if it fails.
check() {
  local what=$1; shift
  echo "== $what"
  "$@" || { fail "$what failed"; return 1; }
}

# Counts a failure outside of tests, and repeats its line at the end.
fail() {
  echo "test.sh: $1"
  failures+=("$1")
  failed=$((failed + 1))
}

# Installs programs that mostly end-to-end tests use. A test is skipped if its program is missing.
install_programs() {
  local program missing=()
  for program in chromium curl ffmpeg litmus par2 rclone wrk; do
    command -v "$program" >/dev/null || missing+=("$program")
  done
  command -v 7z >/dev/null || missing+=(p7zip-full)
  command -v promtool >/dev/null || missing+=(prometheus)
  command -v nginx >/dev/null || missing+=(nginx-light)
  command -v fusermount3 >/dev/null || missing+=(fuse3)
  [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}" || echo "test.sh: could not install ${missing[*]}; the tests that need them are skipped"
  # Apart, because other distributions have no such package.
  command -v chromium-headless-shell >/dev/null || apt_install chromium-headless-shell \
    || echo "test.sh: the tests in a browser run in chromium with windows, because its headless shell could not be installed"
}

apt_install() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq >/dev/null 2>&1 \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 && echo "test.sh: installed $*"
}

# row NAME RAN WHY TIME: adds one line to the table at the end.
row() { rows+=("$(printf '%-12s %-4s %-18s %s' "$1" "$2" "$4" "$3")"); }

# timed NAME WHY MINUTES COMMAND...: runs a section and records its time, and the minutes that it may take on two idle cores.
timed() {
  local name=$1 why=$2 ceiling=$3 began=$SECONDS seconds; shift 3
  "$@"
  seconds=$((SECONDS - began))
  row "$name" yes "$why" "$((seconds / 60)):$(printf %02d $((seconds % 60))) of $ceiling min$([ "$seconds" -le $((ceiling * 60)) ] || echo ' (!)')"
}

# beside NAME WHY MINUTES COMMAND...: like timed, but concurrently with other sections until collect waits for it. Its output is held
# until then, so that the lines of two sections do not mix.
beside() {
  local name=$1 state=$results/${1// /-}
  (
    passed=0 failed=0 skipped=0 rows=() failures=()
    timed "$@" >"$state.log" 2>&1
    {
      echo "passed=\$((passed + $passed)) failed=\$((failed + $failed)) skipped=\$((skipped + $skipped))"
      [ ${#rows[@]} = 0 ] || printf 'rows+=(%q)\n' "${rows[@]}"
      [ ${#failures[@]} = 0 ] || printf 'failures+=(%q)\n' "${failures[@]}"
    } >"$state.counts"
  ) &
  aside+=("$name")
}

# Ctrl-C must also stop the concurrent sections.
trap 'kill 0' INT

# One compiler process for all projects, so that the analyzers are compiled only once. Its pipe name is unique to this run.
export UseSharedCompilation=true SharedCompilationId=sluice-tests-$$
trap stop_compiler EXIT

# Frees the compiler's memory for the tests. The next build starts a new one.
stop_compiler() { pkill -f -- "-pipename:$SharedCompilationId" 2>/dev/null; true; }

# Waits for the concurrent sections, prints their output, and adds their counts.
collect() {
  local name state
  wait
  for name in "${aside[@]}"; do
    state=$results/${name// /-}
    cat "$state.log"
    # shellcheck disable=SC1090
    [ -s "$state.counts" ] && . "$state.counts" || fail "$name left no counts"
  done
  aside=()
}

# publish_server [--aot | --failpoints]: builds without the analyzers, because the previous build has checked the same sources.
publish_server() { "$root/tools/publish.sh" "$@" -p:RunAnalyzers=false; }

# Builds the ordinary form with its web UI for the end-to-end tests, because compiled ahead it starts in half the time. The file "published"
# marks the build as one of this run.
publish() { check "build of the server" publish_server && touch "$results/published"; }

use_published() {
  [ -e "$results/published" ] || finish
  export SLUICE_TEST_FORM=published SERVER=$published
}

# build_ahead LEVELS: builds the shipped form once per run. Sets ahead to built, or to missing if the compiler is unavailable.
build_ahead() {
  local code=0
  [ "$ahead" = unbuilt ] || return 0
  echo "== build of the form that ships"
  LEVELS=$1 publish_server --aot || code=$?
  case "$code" in
    0) ahead=built ;;
    3) ahead=missing
      echo "test.sh: the form that ships cannot be built here; the tests that need it are skipped"
      [ "$mode" != all ] || fail "the form that ships cannot be built here" ;;
    *) ahead=missing; fail "build of the form that ships failed" ;;
  esac
}

# Whether the shipped form has been built; if not, the tests that need it count as skipped.
has_ahead() { [ "$ahead" = built ] || { skipped=$((skipped + 1)); return 1; }; }

# in_shipped_form COMMAND...
in_shipped_form() { SLUICE_TEST_FORM=aot SERVER=$shipped "$@"; }

# Tests the arm64 archive, and runs the decoder's tests on emulated CPUs with and without PMULL.
run_arm64() {
  local cpu
  [ "$(uname -m)" != x86_64 ] || LEVELS=arm64 publish_server --aot || { fail "build for arm64 failed"; return; }
  if ! [ -e "$root/artifacts/server-aot-arm64/Sluice.Server" ] || ! "$root/tools/arm64.sh" --set-up; then
    echo "test.sh: the build for arm64 is not run, because it, qemu-user or the libraries that it needs could not be had"
    skipped=$((skipped + 1))
    return
  fi
  check "the archive for arm64" bash -c "'$root/tools/release.sh' --built && '$root/tools/arm64.sh' --server" || return
  run_tests arm64 Server.Tests -explicit only -trait Form=arm64
  SLUICE_TEST_FORM=arm64 run_tests arm64-rooms Server.Tests -trait Category=Smoke
  check "tests for arm64" "$root/tools/arm64.sh" --tests || return
  for cpu in raspberry-pi-4 newest; do
    run_program "arm64-$cpu" "$root/tools/arm64.sh" "$cpu" "$root/artifacts/arm64/tests/Sluice.Usenet.Tests" -namespace Sluice.Usenet.Tests.Yenc -trait- Category=Long
  done
}

# Runs the tests of one project that match the filters, and adds their counts.
run_tests() {
  local name=$1 project=$2; shift 2
  run_program "$name" "$root/backend/tests/$project/bin/Release/net10.0/Sluice.$project" "$@"
}

# run_program NAME COMMAND...: like run_tests, for a command that runs compiled tests.
run_program() {
  local name=$1 report=$results/$1.xml code counts; shift
  echo "== $name"
  # A test that hangs is reported after five minutes, and the timeout ends the run. It kills, because a server inside the tests catches the
  # signal to end.
  timeout --kill-after=30 "$([ "$mode" = long ] && echo 7200 || echo 1800)" "$@" -noLogo -noColor -longRunning 300 -xml "$report"
  code=$?
  counts=$(sed -n 's/.*<assembly \([^>]*\)>.*/\1/p' "$report" 2>/dev/null | head -n 1)
  if [ -z "$counts" ]; then
    fail "$name left no report (exit code $code)"
    return
  fi
  local here_failed=$(($(count failed "$counts") + $(count errors "$counts")))
  # A run also fails if it has no tests, or exits with an error without a failed test.
  [ "$here_failed" -gt 0 ] || { [ "$code" = 0 ] && [ "$(count total "$counts")" -gt 0 ]; } || fail "$name ended with exit code $code"
  passed=$((passed + $(count passed "$counts")))
  failed=$((failed + here_failed))
  skipped=$((skipped + $(count skipped "$counts")))
}

# Checks the sources of the web UI and runs its unit tests.
run_frontend() {
  local types=$results/api.d.ts what=--packages code=0
  # Builds the pages only if there are none, because the concurrent build of the server may read existing ones.
  [ "$mode" = quick ] || [ -e "$root/backend/src/Server/wwwroot" ] || what=
  # shellcheck disable=SC2086
  "$root/tools/frontend.sh" $what || code=$?
  if [ "$code" = 3 ]; then
    # Only the web UI needs Node.js.
    skipped=$((skipped + 1))
    return
  fi
  check "packages and pages of the web UI" [ "$code" = 0 ] || return
  cd "$root/frontend" || return
  check "lint of the web UI" with_node npm run --silent lint
  run_vitest frontend test
  cp src/types/api.d.ts "$types" && with_node npm run --silent types >/dev/null && check "types of the web UI, made anew" cmp src/types/api.d.ts "$types"
  cd "$root/backend"
}

# run_browser NAME SCRIPT: runs the tests of the web UI in a browser; without one, checks only the sizes of its files.
run_browser() {
  [ -e "$root/backend/src/Server/wwwroot/index.html" ] || { echo "test.sh: without the tests in a browser, because the web UI is not built"; skipped=$((skipped + 1)); return; }
  cd "$root/frontend" || return
  if command -v chromium-headless-shell chromium >/dev/null; then
    SLUICE_SERVER=$SERVER run_vitest "$1" "$2"
  else
    run_vitest size size
    echo "test.sh: without the tests in a browser, because chromium is not installed"
    skipped=$((skipped + 1))
  fi
  cd "$root/backend"
}

# run_vitest NAME SCRIPT: runs a vitest script of the web UI, and adds its counts.
run_vitest() {
  local name=$1 report=$results/$1.json code=0 counts here_passed here_failed here_skipped
  echo "== $name"
  with_node timeout 900 npm run --silent "$2" -- --reporter=default --reporter=json --outputFile.json="$report" 2>&1 | tee "$results/vitest-$1.txt"
  code=${PIPESTATUS[0]}
  counts=$(node -p "const r = JSON.parse(require('fs').readFileSync('$report')); [r.numPassedTests, r.numFailedTests, r.numPendingTests + r.numTodoTests].join(' ')" 2>/dev/null)
  if [ -z "$counts" ]; then
    fail "$name left no report (exit code $code)"
    return
  fi
  read -r here_passed here_failed here_skipped <<<"$counts"
  # As in run_program: a run also fails if it has no tests, or exits with an error without a failed test.
  [ "$here_failed" -gt 0 ] || { [ "$code" = 0 ] && [ "$here_passed" -gt 0 ]; } || fail "$name ended with exit code $code"
  passed=$((passed + here_passed)) failed=$((failed + here_failed)) skipped=$((skipped + here_skipped))
}

# run_clients NAME: runs the clients that people use, each against a running server. Each unavailable client prints one line.
run_clients() {
  local report=$results/$1.txt
  echo "== $1"
  timeout 1200 "$root/tools/clients.sh" --built | tee "$report"
  add_counts "$1" "$report"
}

# run_script NAME COMMAND...: runs a script whose last line has its counts.
run_script() {
  local name=$1 report=$results/$1.txt; shift
  echo "== $name"
  timeout "${limit:-900}" "$@" | tee "$report"
  add_counts "$name" "$report"
}

# add_counts NAME REPORT: adds the counts in the last line of a script's output.
add_counts() {
  if [[ $(tail -n 1 "$2") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2])) skipped=$((skipped + BASH_REMATCH[3]))
  else
    fail "$1 left no counts"
  fi
}

count() { sed -n "s/.*\\b$1=\"\\([0-9]*\\)\".*/\\1/p" <<<" $2" | grep . || echo 0; }

# Runs all tests that start the server and decide. They share no state and mostly wait, so they run concurrently.
run_end_to_end() {
  run_tests "$1" Server.Tests -maxThreads 1.5x -trait Category=EndToEnd -trait- Category=Starts -trait- Category=Kills -trait- Form=aot
}

# Runs a part of the table in tools/parts.sh.
run_part() {
  case "$1" in
    kills) check "build with failpoints" publish_server --failpoints && run_tests kills Server.Tests -trait Category=Kills -trait- Category=Long ;;
    starts) run_tests starts Server.Tests -trait Category=Starts ;;
    chaos) run_tests chaos Server.Tests -trait Category=Chaos ;;
    soak) run_tests soak Server.Tests -trait Category=Soak ;;
    clients) run_clients clients ;;
    browser-long) run_browser long-browser test:browser:long ;;
    image) build_ahead v2; has_ahead && run_script image "$root/tools/image.sh" --built ;;
    archive) build_ahead v2; has_ahead && run_script archive bash -c "'$root/tools/release.sh' --built && '$root/tools/release.sh' --try" ;;
    ships)
      build_ahead "v2 here"
      has_ahead || return
      in_shipped_form run_tests shipped-starts Server.Tests -trait Category=Starts
      in_shipped_form run_tests shipped-rooms Server.Tests -trait Category=Smoke
      run_tests shipped-builds Server.Tests -trait Form=aot ;;
  esac
}

# take_part NAME WHY MINUTES HASH: runs a part, and records its content if it passes.
take_part() {
  local failed_before=$failed passed_before=$passed
  timed "$1" "$2" "$3" run_part "$1"
  [ "$failed" != "$failed_before" ] || [ "$passed" = "$passed_before" ] || "$root/tools/parts.sh" --passed "$1" "$4"
}

# Runs the parts that are due, all of them, or the ones of the command line.
run_parts() {
  local name due why minutes hash chosen=() line
  # All parts are chosen first, because each takes minutes in which files may change.
  mapfile -t chosen < <("$root/tools/parts.sh")
  for line in "${chosen[@]}"; do
    IFS=$'\t' read -r name due why minutes hash <<<"$line"
    case "$mode" in
      all) take_part "$name" --all "$minutes" "$hash" ;;
      parts) [[ " ${parts[*]} " != *" $name "* ]] || take_part "$name" "asked for" "$minutes" "$hash" ;;
      *) if [ "$due" = yes ]; then take_part "$name" "$why" "$minutes" "$hash"; else row "$name" no "$why" -; fi ;;
    esac
  done
}

# run_quick NAME PROJECT: runs the test classes that open neither a database nor a socket, as found in the compiled tests.
run_quick() {
  local list=$results/$1.list class classes=() program=$root/backend/tests/$2/bin/Release/net10.0/Sluice.$2
  SLUICE_QUICK_CLASSES=$list "$program" -noLogo -noColor -explicit only -method '*.Quick_classes_are_listed' >/dev/null
  while read -r class; do classes+=(-class "$class"); done <"$list"
  [ ${#classes[@]} -gt 0 ] || { fail "$1: no class was found"; return; }
  run_tests "$1" "$2" "${classes[@]}" -trait- Category=Long -trait- Category=Measures
}

# Engine tests mostly wait for timeouts, above all in their first minutes, so six at a time leave fewer cores idle.
run_engine() { run_tests engine Usenet.Tests -maxThreads 3x -trait- Category=Long; }

# Five tests at a time keep two cores busy, because some wait.
run_server() {
  run_tests server Server.Tests -maxThreads 2.5x -trait- Category=EndToEnd -trait- Category=Measures -trait- Category=Starts -trait- Category=Chaos \
    -trait- Category=Soak -trait- Category=Long
}

run_measures() { run_tests "$1" Server.Tests -parallel none -trait Category=Measures; }

# Sets built to yes if there is something to test. The analyzers check style and whitespace (IDE0055), SourceForm in the unit tests the rest.
build() { check "build" dotnet build Backend.slnx -c Release --no-restore -v quiet && built=yes; }

# Runs everything again against the shipped form, at every level and on both processors.
run_shipped() {
  has_ahead || return
  in_shipped_form timed "end-to-end" "--all, the form that ships" 6 run_end_to_end shipped-end-to-end
  in_shipped_form timed soak "--all, the form that ships" 4 run_tests shipped-soak Server.Tests -trait Category=Soak
  in_shipped_form timed clients "--all, the form that ships" 3 run_clients clients-shipped
  in_shipped_form timed measures "--all, the form that ships" 15 run_measures shipped-measures
  timed arm64 --all 15 run_arm64
}

cd "$root/backend"
rm -rf "$results"; mkdir -p "$results"
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
unset SLUICE_TEST_FORM SERVER
if ! dotnet --version >/dev/null 2>&1; then
  echo "test.sh: the .NET SDK $(sed -n 's/.*"version": *"\([^"]*\)".*/\1/p' global.json) is not installed (https://dot.net)"
  failed=1
  finish
fi
[ "$mode" = quick ] || install_programs
# The tests of the web UI need Node.js. Without it they are skipped, and tools/frontend.sh prints the reason.
source "$root/tools/node.sh"
case "$mode" in
  gate | all | quick)
    # The web UI uses one core for most of its time, like the compiler.
    beside "web UI" "every change" 4 run_frontend ;;
esac
check "restore" dotnet restore Backend.slnx --locked-mode -v quiet && timed "build" "every run" 4 build
if [ "$mode" = quick ] && [ "$built" = yes ]; then
  timed engine --quick 1 run_quick quick-engine Usenet.Tests
  timed server --quick 1 run_quick quick-server Server.Tests
fi
[ "$mode" != quick ] && [ "$built" = yes ] || { collect; finish; }

# The server is compiled while engine tests wait.
beside publish "every run but --quick" 4 publish
case "$mode" in gate | all) timed engine "every change" 4 run_engine ;; esac
collect
use_published
stop_compiler
if [ "$mode" = long ]; then
  check "build with failpoints" publish_server --failpoints
  timed engine --long 30 run_tests long-engine Usenet.Tests -trait Category=Long
  timed server --long 90 run_tests long Server.Tests -trait Category=Long
  finish
fi
if [ "$mode" != parts ]; then
  timed server "every change" 6 run_server
  # Browser tests compute while end-to-end tests wait.
  beside browser "every change" 4 run_browser browser test:browser
  timed end-to-end "every change" 4 run_end_to_end end-to-end
  collect
fi
[ "$mode" != all ] || timed "AOT build" --all 8 build_ahead "v2 v3 v4"
run_parts
if [ "$mode" = all ]; then
  # The stages of the Dockerfile compile the server again, in an image.
  limit=2400 timed stages --all 20 run_script stages "$root/tools/image.sh" --stages
  timed measures --all 15 run_measures measures
  run_shipped
fi
row total yes "side by side" "$((SECONDS / 60)):$(printf %02d $((SECONDS % 60)))"
finish
