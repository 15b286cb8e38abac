#!/usr/bin/env bash
# Sets up and runs every test: build, format check, unit and wire tests, those of the web UI, end-to-end tests, minutes of everything at
# once (chaos), starts over damaged folders, kills at every step of every write, tools/clients.sh, and tools/image.sh with an installation
# from the archive where what these are made of has changed within a day.
#
#   tools/test.sh           what a change has to pass
#   tools/test.sh --quick   without the end-to-end tests, those in a browser and the clients
#   tools/test.sh --long    with the soaks and timed bars that do not fit the normal run
#   tools/test.sh --aot     the end-to-end tests, the starts and the clients alone, all against the form that ships
#   tools/test.sh --kills   the kills alone, against a build that has the steps (tools/publish.sh --failpoints)
#
# The form that ships is compiled ahead (tools/publish.sh --aot). In every other run with end-to-end tests each of them takes that or the
# ordinary form, by its name: one half at even numbers of commits, the other half at odd ones; the starts over damaged folders take the
# one that ships. Without git, or where the compiler cannot be had, all take the ordinary form.
# At the end it lists the ten slowest tests. The last line reads "N passed, N failed, N skipped"; the exit code is 0 only when something
# ran and nothing failed.
# What is skipped says why on a line of its own, and has not passed.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
results=$root/artifacts/test-results
passed=0 failed=0 skipped=0
took=() failures=()
emulated=no

case "${1:-}" in
  "") units=yes end_to_end=yes long=no form=both ;;
  --quick) units=yes end_to_end=no long=no form=ordinary ;;
  --long) units=yes end_to_end=yes long=yes form=both ;;
  --aot) units=no end_to_end=yes long=no form=aot ;;
  --kills) units=no end_to_end=no long=no form=ordinary ;;
  *) sed -n '2,18s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac

finish() {
  # A long log is often cut short before it is read: what failed is named at its end, with its message.
  list_failed_in_xunit
  list_failed_in_vitest
  [ ! -e "$results/clients.txt" ] || grep -a ' FAILED$' "$results/clients.txt" | sed 's/^/test.sh: failed: /'
  grep -ahs '^FAILED: ' "$results/image.txt" "$results/archive.txt" | sed 's/^FAILED/test.sh: failed/'
  [ ${#failures[@]} = 0 ] || printf 'test.sh: failed: %s\n' "${failures[@]}"
  [ ${#took[@]} = 0 ] || printf 'test.sh: %s\n' "${took[@]}"
  list_slowest
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
  exit
}

# What failed of the server, from its reports. A message may have many lines; the first 600 characters of it say enough.
list_failed_in_xunit() {
  local report
  for report in "$results"/*.xml; do
    [ ! -e "$report" ] || tr -s '\n ' ' ' <"$report" | grep -aoP '<test [^>]* result="Fail".*?</message>' \
      | sed -E 's/^<test [^>]*\bname="([^"]*)".*<message>(<!\[CDATA\[)?/test.sh: failed: \1: /; s/(\]\]>)?<\/message>$//' | cut -c 1-600
  done
}

# What failed of the web UI, from its reports.
list_failed_in_vitest() {
  local report
  for report in "$results"/*.json; do
    [ ! -e "$report" ] || node -p "JSON.parse(require('fs').readFileSync('$report')).testResults.flatMap(file => file.assertionResults)
      .filter(test => test.status === 'failed').map(test => 'test.sh: failed: ' + test.fullName + ': ' + (test.failureMessages[0] ?? '').slice(0, 600).replaceAll('\\n', ' ')).join('\\n')" | grep .
  done
}

# The ten slowest tests of the run, from its reports.
list_slowest() {
  grep -aho '<test [^>]*' "$results"/*.xml 2>/dev/null | sed -n 's/.* name="\([^"]*\)".* time="\([0-9]*\.\?[0-9]\?\)[0-9]*".*/\2 s  \1/p' \
    | sort -rn | head -n 10 | sed 's/^/test.sh: slow: /'
}

# A step that is no test: it counts only when it fails.
check() {
  local what=$1; shift
  echo "== $what"
  "$@" || { fail "$what failed"; return 1; }
}

# Counts a failure that is no test's, and keeps its line for the end.
fail() {
  echo "test.sh: $1"
  failures+=("$1")
  failed=$((failed + 1))
}

# Programs that some tests drive, most of them end-to-end; a test whose program is absent is skipped.
install_programs() {
  local program missing=()
  for program in chromium curl ffmpeg litmus par2 rclone wrk; do
    command -v "$program" >/dev/null || missing+=("$program")
  done
  command -v 7z >/dev/null || missing+=(p7zip-full)
  command -v nginx >/dev/null || missing+=(nginx-light)
  command -v fusermount3 >/dev/null || missing+=(fuse3)
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null \
    && apt-get update -qq >/dev/null 2>&1 \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null 2>&1; then
    echo "test.sh: installed ${missing[*]}"
  else
    echo "test.sh: could not install ${missing[*]}; the tests that need them are skipped"
  fi
}

# Whether image and archive are to be tried, and the build of one level handing over to another: what they are made of, beside the server
# itself, has changed within a day. Where there is no history it counts as changed.
made_anew() {
  [ "$long" = no ] || return 0
  [ "$(git -C "$root" rev-parse --is-shallow-repository 2>/dev/null)" = false ] || return 0
  [ -n "$(git -C "$root" log --since='1 day ago' --format=%h -1 -- docker docker-compose.yml .dockerignore config docs/install.md \
    tools/publish.sh tools/release.sh tools/image.sh \
    backend/src/Server/Program.cs backend/src/Server/Settings/ProcessOptions.cs backend/src/Server/Database/DataFolder.cs \
    backend/src/Server/Diagnostics/{HealthQuestion,ProcessExit,ProcessUser,StartPages,WiderBuild}.cs)" ]
}

# Builds the form that ships, and says by a variable which tests take it. A build that fails has failed; one that cannot be made here is
# a line.
build_ahead() {
  local parity code=0 levels=here
  export SLUICE_TEST_FORM=ordinary
  ! made_anew || levels="v2 here"
  [ "$form" = both ] || levels="v2 v3 v4"
  if [ "$form" = both ] && ! parity=$(git -C "$root" rev-list --count HEAD 2>/dev/null); then
    echo "test.sh: no history here; every test takes the ordinary form of the server"
    return
  fi
  echo "== build of the form that ships"
  LEVELS=$levels "$root/tools/publish.sh" --aot || code=$?
  [ "$code" != 0 ] || [ "$form" = both ] || build_arm64
  if [ "$code" = 3 ]; then
    echo "test.sh: the form that ships cannot be built here; every test takes the ordinary form of the server"
    [ "$form" = both ] || failed=$((failed + 1))
  elif [ "$code" != 0 ]; then
    fail "build of the form that ships failed"
  elif [ "$form" = aot ]; then
    SLUICE_TEST_FORM=aot
    export SERVER=$root/artifacts/server-aot/Sluice.Server
  elif [ $((parity % 2)) = 0 ]; then
    SLUICE_TEST_FORM=even
  else
    SLUICE_TEST_FORM=odd
  fi
}

# The build for arm64, an emulator, and the libraries of that system, which go into a folder of their own.
build_arm64() {
  local folder=$root/artifacts/arm64-libraries packages=$root/artifacts/arm64-packages package options
  [ "$(uname -m)" = x86_64 ] || return 0
  LEVELS=arm64 "$root/tools/publish.sh" --aot || { fail "build for arm64 failed"; return; }
  [ -e "$root/artifacts/server-aot-arm64/Sluice.Server" ] || return 0
  mkdir -p "$folder" "$packages/lists/partial" "$packages/archives/partial"
  options=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State::lists=$packages/lists" -o "Dir::Cache=$packages" -o Dir::State::status=/dev/null)
  if command -v qemu-aarch64 >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends qemu-user >/dev/null 2>&1; then
    (cd "$packages" && apt-get "${options[@]}" update && apt-get "${options[@]}" download libc6 libgcc-s1 libstdc++6 libicu72 libssl3) >/dev/null 2>&1 \
      && for package in "$packages"/*.deb; do dpkg -x "$package" "$folder"; done && emulated=yes
  fi
}

# The tests that kill the server at its steps, with the build that has them.
run_kills() {
  local began=$SECONDS
  check "build with failpoints" "$root/tools/publish.sh" --failpoints || return
  run_tests kills Server.Tests -trait Category=Kills
  note_time kills "$began" 3
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
  # A test that hangs is named after five minutes, and ends the run while there is time to say so.
  timeout "$([ "$long" = yes ] && echo 7200 || echo 1500)" "$program" -noLogo -noColor -longRunning 300 -xml "$report" "$@"
  code=$?
  counts=$(sed -n 's/.*<assembly \([^>]*\)>.*/\1/p' "$report" 2>/dev/null | head -n 1)
  if [ -z "$counts" ]; then
    fail "$name left no report (exit code $code)"
    return
  fi
  local here_failed=$(($(count failed "$counts") + $(count errors "$counts")))
  # A run that ends badly without a failed test has failed all the same, and so has one without tests.
  [ "$here_failed" -gt 0 ] || { [ "$code" = 0 ] && [ "$(count total "$counts")" -gt 0 ]; } || fail "$name ended with exit code $code"
  passed=$((passed + $(count passed "$counts")))
  failed=$((failed + here_failed))
  skipped=$((skipped + $(count skipped "$counts")))
}

# The web UI: what it is made of, its tests, and its build.
run_frontend() {
  local types=$results/api.d.ts code=0
  "$root/tools/frontend.sh" --packages || code=$?
  if [ "$code" = 3 ]; then
    # Node.js comes with the machine; the rest of the repository does not need it.
    skipped=$((skipped + 1))
    return
  fi
  check "packages of the web UI" [ "$code" = 0 ] || return
  cd "$root/frontend" || return
  check "lint of the web UI" npm run --silent lint
  run_vitest frontend test
  cp src/types/api.d.ts "$types" && npm run --silent types >/dev/null && check "types of the web UI, made anew" cmp src/types/api.d.ts "$types"
  check "build of the web UI" "$root/tools/frontend.sh" && [ "$end_to_end" = yes ] && run_browser
  cd "$root/backend"
}

# A hundred and more starts: in the ordinary form each waits seconds for the compiler, and the form that ships takes half a minute for all.
run_starts() {
  local starts=aot
  [ "$SLUICE_TEST_FORM" != ordinary ] || starts=ordinary
  SLUICE_TEST_FORM=$starts run_tests starts Server.Tests -trait Category=Starts
}

# Its tests in a browser, against the form that ships where that was built here; without a browser its size alone.
run_browser() {
  local server=$root/artifacts/server-aot/Sluice.Server
  if [ "$SLUICE_TEST_FORM" = ordinary ]; then
    server=$root/artifacts/server/Sluice.Server
    check "build of the server with the web UI" "$root/tools/publish.sh" || return
  fi
  if command -v chromium >/dev/null; then
    SLUICE_SERVER=$server run_vitest browser test:browser
    [ "$long" = no ] || SLUICE_SERVER=$server run_vitest long-browser test:browser:long
  else
    SLUICE_SERVER=$server run_vitest size size
    echo "test.sh: without the tests in a browser, because chromium is not installed"
    skipped=$((skipped + 1))
  fi
}

# run_vitest NAME SCRIPT: runs a script of the web UI that is vitest, and adds its counts.
run_vitest() {
  local name=$1 report=$results/$1.json code=0 counts here_passed here_failed here_skipped
  echo "== $name"
  timeout "$([ "$long" = yes ] && echo 3600 || echo 600)" npm run --silent "$2" -- --reporter=default --reporter=json --outputFile.json="$report" || code=$?
  counts=$(node -p "const r = JSON.parse(require('fs').readFileSync('$report')); [r.numPassedTests, r.numFailedTests, r.numPendingTests + r.numTodoTests].join(' ')" 2>/dev/null)
  if [ -z "$counts" ]; then
    fail "$name left no report (exit code $code)"
    return
  fi
  read -r here_passed here_failed here_skipped <<<"$counts"
  # As below: a run that ends badly without a failed test has failed all the same, and so has one without tests.
  [ "$here_failed" -gt 0 ] || { [ "$code" = 0 ] && [ "$here_passed" -gt 0 ]; } || fail "$name ended with exit code $code"
  passed=$((passed + here_passed)) failed=$((failed + here_failed)) skipped=$((skipped + here_skipped))
}

# The programs that people use, each against a running server; one line says which cannot be had here.
run_clients() {
  local report=$results/clients.txt
  echo "== clients"
  timeout 1200 "$root/tools/clients.sh" --built | tee "$report"
  add_counts clients "$report"
}

# The image, and an installation by the words of docs/install.md; of the server that was built for the tests, which in a normal run lacks
# levels of instructions that this machine does not use.
run_image() {
  local image=$results/image.txt archive=$results/archive.txt
  if [ ! -e "$root/artifacts/server-aot/wwwroot/index.html" ] || [ "$SLUICE_TEST_FORM" = ordinary ]; then
    echo "test.sh: without the image and the archive, because the form that ships was not built with its web UI"
    skipped=$((skipped + 1))
    return
  fi
  echo "== image and archive"
  [ "$long" = no ] || LEVELS="v2 v3 v4" "$root/tools/publish.sh" --aot || { fail "build of the form that ships failed"; return; }
  timeout 900 "$root/tools/image.sh" --built | tee "$image"
  add_counts image "$image"
  { "$root/tools/release.sh" --built && timeout 900 "$root/tools/release.sh" --try; } | tee "$archive"
  add_counts archive "$archive"
}

# add_counts NAME REPORT: adds the counts of the last line of what a script has printed.
add_counts() {
  if [[ $(tail -n 1 "$2") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2])) skipped=$((skipped + BASH_REMATCH[3]))
  else
    fail "$1 left no counts"
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
# The build itself holds the rules of style and the analyzers; what it does not see is whitespace and the order of imports.
if [ "$units" = yes ]; then
  check "whitespace" dotnet format whitespace Backend.slnx --verify-no-changes --no-restore
  check "imports" dotnet format style Backend.slnx --verify-no-changes --no-restore --diagnostics IDE0055
fi
if [ "$end_to_end" = yes ]; then
  began=$SECONDS; build_ahead; note_time "build of the form that ships" "$began" 4
  [ "$form" = both ] || [ "$SLUICE_TEST_FORM" = aot ] || finish
fi

if [ "$units" = yes ]; then
  began=$SECONDS
  # They wait for time-outs more than they compute: three at a time keep two cores busy.
  run_tests engine Usenet.Tests -maxThreads 1.5x -trait- Category=EndToEnd -trait- Category=Long
  run_tests server Server.Tests -maxThreads 1.5x -trait- Category=EndToEnd -trait- Category=Starts -trait- Category=Chaos -trait- Category=Long
  note_time "engine and server" "$began" 9
  began=$SECONDS; run_frontend; note_time "web UI" "$began" 4
fi
if [ "$end_to_end" = yes ]; then
  began=$SECONDS; run_tests end-to-end Server.Tests -trait Category=EndToEnd -trait- Category=Starts -trait- Category=Kills; note_time end-to-end "$began" 9
  began=$SECONDS; run_tests chaos Server.Tests -trait Category=Chaos; note_time chaos "$began" 3
  began=$SECONDS; run_starts; note_time starts "$began" 2
  [ "$form" = aot ] || run_kills
  began=$SECONDS; run_clients; note_time clients "$began" 3
  [ "$form" = aot ] || ! made_anew || { began=$SECONDS; run_image; note_time "image and archive" "$began" 4; }
  if [ "$form" = aot ] && [ "$emulated" = yes ]; then
    run_tests arm64 Server.Tests -explicit only -method '*.Clip_of_the_build_for_arm64_*'
  elif [ "$form" = aot ]; then
    echo "test.sh: the build for arm64 is not run, because it, qemu-user or the libraries that it needs could not be had"
    skipped=$((skipped + 1))
  fi
fi
[ "${1:-}" != --kills ] || run_kills
[ "$long" = no ] || run_tests long-engine Usenet.Tests -trait Category=Long
[ "$long" = no ] || run_tests long Server.Tests -trait Category=Long
finish
