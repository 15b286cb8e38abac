#!/usr/bin/env bash
# Builds the image of docker/Dockerfile with buildah, and runs it as people run it: as a user and as root, on a read-only root, over
# volumes of several owners, through a kill and a stop.
#
#   tools/image.sh            with a server that is built anew, in the levels of instructions that the Dockerfile names
#   tools/image.sh --built    with the one that tools/publish.sh --aot has built before, and without judging how fast it starts, which
#                             among other tests says as much of them as of the image
#
# Where the base image cannot be pulled, its place is taken by the same libraries as packages of Debian, extracted and no system. What
# is built goes to artifacts/sluice-image.tar, for docker load, and leaves nothing in the storage of an engine. Starts are those of the
# system itself (unshare, read-only bind mounts, no new privileges), with the user, the variables and the command that the image names.
# The last line reads "N passed, N failed, N skipped".
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
version=$(sed -n 's|.*<Version>\(.*\)</Version>.*|\1|p' "$root/backend/Directory.Build.props")
image=localhost/sluice:$version
file=$root/artifacts/sluice-image.tar
layout=$root/artifacts/image
clip=f5cc520da5f5323aa87ddf135966f7e1e39c2920d6ae2ac8260d2179943d0bf9
starts=5
built=no
passed=0 failed=0 skipped=0
work=$(mktemp -d)
chmod 711 "$work"
mounted='' server=''

# With a storage of its own.
buildah() { command buildah --root "$work/storage" --runroot "$work/run" "$@"; }

clean_up() {
  [ -z "$server" ] || kill -KILL "$server" 2>/dev/null
  wait 2>/dev/null
  [ ! -e "$work/storage" ] || { buildah umount --all; buildah rm --all; } >/dev/null 2>&1
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

finish() { echo "$passed passed, $failed failed, $skipped skipped"; [ "$failed" = 0 ] && [ "$passed" -gt 0 ]; exit; }

skip() { echo "image.sh: without the image, because $1"; skipped=$((skipped + 1)); finish; }

# Nothing can be checked without it. The line says why, because test.sh repeats only such lines at its end.
stop() {
  [ ! -s "$work/log" ] || tail -n 40 "$work/log" >&2
  echo "FAILED: $1: $(tail -n 3 "$work/log" 2>/dev/null | tr '\n' ' ' | cut -c 1-400)"
  failed=$((failed + 1))
  finish
}

# check WHAT COMMAND...
check() {
  local what=$1; shift
  if "$@"; then echo "passed: $what"; passed=$((passed + 1)); else echo "FAILED: $what"; failed=$((failed + 1)); tail -n 5 "$work/output" 2>/dev/null; fi
}

quietly() { "$@" >"$work/log" 2>&1; }

# --- building -------------------------------------------------------------------------------------------------------------------------

need() {
  local missing=() program
  # A file: "command -v" would find the function buildah above.
  for program in "$@"; do type -P "$program" >/dev/null || missing+=("$program"); done
  [ ${#missing[@]} = 0 ] || { update_lists && DEBIAN_FRONTEND=noninteractive quietly apt-get install -y -qq -o Acquire::Retries=3 --no-install-recommends "${missing[@]}"; }
}

update_lists() { quietly apt-get update -qq -o Acquire::Retries=3; }

# A mirror that fails once is no fault of the image.
make_system() { quietly mmdebstrap --aptopt='Acquire::Retries "3"' --variant=extract --include="$1" "$2" "$work/base.tar"; }

# The base image of the Dockerfile, or one of the same libraries from Debian's packages; its name in $base.
take_base() {
  base=$(sed -n 's/^ARG RUNTIME_IMAGE=//p' "$root/docker/Dockerfile")
  timeout 60 buildah --root "$work/storage" --runroot "$work/run" pull --quiet "$base" >/dev/null 2>&1 && return
  echo "image.sh: ${base%@*} cannot be pulled here; its libraries are taken from Debian's packages" >&2
  need mmdebstrap || return 1
  local release icu files=$work/base
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  # A machine that has installed nothing yet may have no lists, which name the version of ICU.
  [ -n "$(apt-cache pkgnames libicu)" ] || update_lists || return 1
  icu=$(apt-cache pkgnames libicu | grep -x 'libicu[0-9]*' | sort -V | tail -n 1)
  make_system "libc6,libgcc-s1,libstdc++6,libssl3,$icu,zlib1g,ca-certificates,tzdata,openssl" "$release" || return 1
  mkdir -p "$files"
  # Of the packages what a running server reads: libraries without the tables of old encodings, time zones, certificates, licences.
  tar -xf "$work/base.tar" -C "$files" --wildcards \
    './lib*' './usr/lib/*-linux-gnu/lib*.so*' './usr/lib/ssl' './usr/share/zoneinfo' './usr/share/ca-certificates' './usr/share/doc/*/copyright' \
    './etc/ssl' './etc/os-release' './usr/lib/os-release' 2>"$work/log" || [ -e "$files/usr/lib/ssl" ] || return 1
  # An extracted package has not run its script, which puts all certificates into this one file.
  find "$files/usr/share/ca-certificates" -name '*.crt' -exec cat {} + >"$files/etc/ssl/certs/ca-certificates.crt"
  rm -rf "$files/usr/share/ca-certificates" "$files"/lib/systemd "$files"/lib/udev "$files/usr/lib/ssl/misc" "$files"/usr/lib/*/libicu{io,test,tu}.so* "$files"/lib/*/libmvec.so* \
    "$files"/usr/share/zoneinfo/right "$files"/usr/share/zoneinfo/posix
  mkdir -m 1777 -p "$files/tmp"
  mkdir -p "$files/proc" "$files/dev" "$files/sys"
  local scratch
  scratch=$(buildah from scratch) && quietly buildah add "$scratch" "$files" / && quietly buildah commit --quiet "$scratch" localhost/sluice-base || return 1
  buildah rm "$scratch" >/dev/null
  base=localhost/sluice-base
}

build_image() {
  take_base || stop "making the base"
  "$root/tools/release.sh" --folder "$layout/app" || stop "laying out the server"
  # Where there are more levels than the image has; a build for tests may have others.
  case "$levels" in *v4*) ;; *) [ ! -e "$layout/app/sluice.v3" ] || rm -f "$layout/app/sluice.v4" ;; esac
  rm -rf "$layout/config" && mkdir -p "$layout/config"
  quietly buildah build --isolation chroot --format docker --build-arg SERVER=built --build-arg RUNTIME_IMAGE="$base" -f "$root/docker/Dockerfile" -t "$image" "$root" \
    || stop "the build of the image"
  rm -f "$file"
  quietly buildah push "$image" "docker-archive:$file:sluice:$version" || stop "writing the image"
  mounted=$(buildah mount "$(buildah from --pull-never "$image")") || stop "mounting the image"
}

# --- running --------------------------------------------------------------------------------------------------------------------------

# A new folder in $volume, with its owner.
make_volume() { volume=$(mktemp -d "$work/volume.XXXXXX") && chown "$1" "$volume" && chmod 755 "$volume"; }

# The variables that the image sets, one a line.
variables() { buildah inspect --type image --format '{{range .OCIv1.Config.Env}}{{println .}}{{end}}' "$image" | grep .; }

# start USER:GROUP [NAME=VALUE...]: starts what the image names with its variables, over $volume, as the only process of its own. What it
# prints goes to $work/output; $shell is the process to wait for, $server the server itself.
start() {
  local user=$1 variables command; shift
  mapfile -t variables < <(variables)
  mapfile -t command < <(buildah inspect --type image --format '{{range .OCIv1.Config.Entrypoint}}{{println .}}{{end}}' "$image" | grep .)
  # Capabilities as engines give them to root; a user has none.
  unshare --mount --pid --fork --kill-child --propagation private /bin/bash -c '
    set -e; mounted=$1 volume=$2; shift 2
    mount --bind "$mounted" "$mounted"
    mount --bind "$volume" "$mounted/config"
    mount -t tmpfs tmpfs "$mounted/tmp"
    mount -t proc proc "$mounted/proc"
    mount --bind /dev "$mounted/dev"
    mount -o remount,bind,ro "$mounted"
    exec "$@"' _ "$mounted" "$volume" \
    "$(command -v env)" -i "${variables[@]}" "PORT=$port" BIND_ADDRESS=127.0.0.1 "$@" \
    "$(command -v setpriv)" --no-new-privs --bounding-set=-all,+chown,+dac_override,+fowner,+kill,+setgid,+setuid,+sys_chroot \
    "$(command -v chroot)" --userspec="$user" --groups= "$mounted" "${command[@]}" </dev/null >"$work/output" 2>&1 &
  shell=$!
  server=''
}

# Milliseconds since the epoch.
now() { date +%s%3N; }

get() { curl -sf --max-time 20 "$@"; }

# Until it answers; takes the time into $took.
ready() {
  local began=$1
  until get "http://127.0.0.1:$port/readyz" >/dev/null; do
    kill -0 "$shell" 2>/dev/null && [ $(($(now) - began)) -lt 30000 ] || { cat "$work/output"; return 1; }
    sleep 0.01
  done
  took=$(($(now) - began))
  server=$(pgrep -P "$shell")
}

start_ready() { local began; began=$(now); start "$@"; ready "$began"; }

# stop_server SIGNAL: ends it and gives its exit code.
stop_server() { local code=0; kill "-$1" "$server"; wait "$shell" || code=$?; server=''; return "$code"; }

# refused USER:GROUP PATTERN [NAME=VALUE...]: it does not start, and says so in one line.
refused() {
  local user=$1 pattern=$2 code=0; shift 2
  start "$user" "$@"
  wait "$shell" || code=$?
  [ "$code" = 78 ] && [ "$(wc -l <"$work/output")" = 1 ] && grep -q "$pattern" "$work/output"
}

status_is() { grep -q "^Uid:	$1	$1	$1	$1$" "/proc/$server/status" && grep -q "^Gid:	$2	$2	$2	$2$" "/proc/$server/status"; }

clip_plays() { get -u "admin:$password" "http://127.0.0.1:$port/content/demo/sluice-demo.mp4" | sha256sum | grep -q "^$clip "; }

health_check() {
  local test variables
  mapfile -t variables < <(variables)
  mapfile -t test < <(buildah inspect --type image --format '{{range .Docker.Config.Healthcheck.Test}}{{println .}}{{end}}' "$image" | grep .)
  [ "${test[0]:-}" = CMD ] && env -i "${variables[@]}" "PORT=$1" BIND_ADDRESS=127.0.0.1 "$(command -v nsenter)" --target "$server" --mount --pid --root --wd --setuid 1000 --setgid 1000 "${test[@]:1}"
}

cannot_write() { ! touch "/proc/$server/root/$1/written" 2>/dev/null && touch "/proc/$server/root/config/written"; }

only_the_server() { [ -z "$(find "$mounted" -type f -perm /111 ! -name '*.so*' ! -path '/*/app/sluice*' -print -o -perm /6000 -print)" ]; }

has_zones_and_certificates() {
  [ -e "$mounted/usr/share/zoneinfo/Europe/Berlin" ] && [ "$(grep -c 'BEGIN CERTIFICATE' "$mounted/etc/ssl/certs/ca-certificates.crt")" -gt 100 ]
}

# Ids and names of the queue.
queue() { get "http://127.0.0.1:$port/api?mode=queue&output=json&apikey=$key" | grep -o '"\(nzo_id\|filename\)":"[^"]*"'; }

add() {
  printf '<nzb xmlns="http://www.newzbin.com/DTD/2003/nzb"><file poster="p" date="1" subject="&quot;%s.mkv&quot; yEnc (1/1)"><groups><group>a.b</group></groups><segments><segment bytes="100" number="1">%s@example</segment></segments></file></nzb>' \
    "$1" "$1" >"$work/$1.nzb"
  get -F "name=@$work/$1.nzb" "http://127.0.0.1:$port/api?mode=addfile&cat=movies&apikey=$key" | grep -q '"status":true'
}

median() { sort -n | sed -n "$((starts / 2 + 1))p"; }

# As a user, over a volume of theirs: from the first start to the stop.
run_as_user() {
  local before
  make_volume 1000:1000
  check "a user on a read-only root: ready" start_ready 1000:1000 || return
  password=$(sed -n 's|.*http://admin:\([^@]*\)@.*|\1|p' "$work/output" | head -n 1)
  key=$(sed -n 's/^ *API key *//p' "$work/output")
  check "the process is user 1000" status_is 1000 1000
  check "nothing but the volume can be written" cannot_write app
  check "the health check of the image" health_check "$port"
  check "the health check fails at another port" not health_check 1
  check "the clip plays" clip_plays
  check "the web UI is served" get "http://127.0.0.1:$port/" -o /dev/null -H 'Accept: text/html'
  get "http://127.0.0.1:$port/api?mode=pause&output=json&apikey=$key" >/dev/null
  check "NZBs are taken" eval 'add one && add two && add three'
  before=$(queue)
  stop_server KILL
  check "started anew after a kill" start_ready 1000:1000
  check "the queue is the same" eval '[ -n "$before" ] && [ "$(queue)" = "$before" ]'
  check "the password and the clip are the same" clip_plays
  check "SIGTERM stops it with code 0" stop_server TERM
}

not() { ! "$@" 2>/dev/null; }

# What people set, and what they forget.
run_as_others() {
  make_volume 0:0
  check "root over a volume of root: ready" start_ready 0:0 && check "root became 1000, which the image names" status_is 1000 1000 && check "it stops" stop_server TERM
  make_volume 4321:4321
  check "root with PUID=1234 and PGID=2345 over a volume of another: ready" start_ready 0:0 PUID=1234 PGID=2345 \
    && check "root became 1234:2345" status_is 1234 2345 && check "it stops" stop_server TERM
  check "another user over what that one left is told what to set" refused 1000:1000 'not writable by uid 1000 (owner 1234:2345, .*chown -R 1000:1000 /config.*PUID=1234 PGID=2345'
  make_volume 0:0
  check "a user over a volume of root is told what to set" refused 1000:1000 'not writable by uid 1000 (owner 0:0, .*chown -R 1000:1000 /config'
  make_volume 1234:2345
  check "user: 1234:2345 over a volume of theirs: ready" start_ready 1234:2345 && check "it stops" stop_server TERM
}

# Figures of docs/bars.md: medians of starts over a new volume.
run_bars() {
  local i ready_times=() residents=() size ready_time quickest slowest resident
  for ((i = 0; i < starts; i++)); do
    make_volume 1000:1000
    start_ready 1000:1000 || { check "a start" false; return; }
    ready_times+=("$took")
    sleep 3
    residents+=("$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$server/status")")
    stop_server TERM
  done
  size=$(du -s -B1 --apparent-size "$mounted" | cut -f 1)
  ready_time=$(printf '%s\n' "${ready_times[@]}" | median)
  quickest=$(printf '%s\n' "${ready_times[@]}" | sort -n | head -n 1)
  slowest=$(printf '%s\n' "${ready_times[@]}" | sort -n | tail -n 1)
  resident=$(($(printf '%s\n' "${residents[@]}" | median) * 1024))
  # A machine that does something else meanwhile, or has few cores, spreads them: the reader sees how far.
  echo "image.sh: $((size / 1000000)) MB unpacked; ready after $ready_time ms, $quickest to $slowest on these $(nproc) cores, $((resident / 1000000)) MB resident 3 s later (medians of $starts starts)"
  echo "image.sh: $file, $(du -h "$file" | cut -f 1)"
  check "at most 150 MB unpacked" [ "$size" -le 150000000 ]
  [ "$built" = yes ] || check "ready within a second" [ "$ready_time" -le 1000 ]
  check "at most 60 MB resident" [ "$resident" -le 60000000 ]
}

check_compose() {
  local compose profile
  if docker compose version >/dev/null 2>&1; then compose="docker compose"
  elif need docker-compose; then compose=docker-compose
  else echo "image.sh: docker-compose.yml is not checked, because docker-compose cannot be installed"; skipped=$((skipped + 1)); return; fi
  for profile in alone mount media; do
    # shellcheck disable=SC2086
    check "docker-compose.yml, profile $profile" quietly $compose -f "$root/docker-compose.yml" --profile "$profile" config --quiet
  done
}

case "${1:-}" in
  "") ;;
  --built) built=yes ;;
  *) sed -n '2,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || skip "it needs root and Debian's packages"
need buildah || skip "buildah cannot be installed"
levels=$(sed -n 's/^ARG LEVELS="\(.*\)"/\1/p' "$root/docker/Dockerfile")
if [ "$built" = no ]; then LEVELS=$levels "$root/tools/publish.sh" --aot || stop "the build of the server"; fi
port=$((20000 + RANDOM % 12000))
build_image
check "nothing can be executed but the server" only_the_server
check "time zones and certificates are there" has_zones_and_certificates
run_as_user
run_as_others
run_bars
check_compose
finish
