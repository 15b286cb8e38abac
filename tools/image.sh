#!/usr/bin/env bash
# Builds the image of docker/Dockerfile with buildah, and runs it like users do: as root with PUID and PGID and as another user, with the
# capabilities of docker-compose.yml, on a read-only root, over volumes of several owners, through a kill and a stop.
#
#   tools/image.sh            builds the server first, for the instruction levels of the Dockerfile
#   tools/image.sh --built    uses the server that tools/publish.sh --aot has built, and does not judge its start time and idle memory,
#                             because other tests at the same time affect them
#   tools/image.sh --stages   runs the stages of the Dockerfile like docker build. Debian's Node.js, and this machine's SDK in a new Debian,
#                             replace the base images
#
# If the base image cannot be pulled, the same libraries from Debian packages replace it, extracted without installing a system. The result
# is artifacts/sluice-image.tar, for docker load; nothing stays in the storage of a container engine. The system itself starts the image
# (unshare, read-only bind mounts, no new privileges), with the image's user, variables and command.
# The last line reads "N passed, N failed, N skipped".
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
version=$(sed -n 's|.*<Version>\(.*\)</Version>.*|\1|p' "$root/backend/Directory.Build.props")
image=localhost/sluice:$version
file=$root/artifacts/sluice-image.tar
layout=$root/artifacts/image
clip=f5cc520da5f5323aa87ddf135966f7e1e39c2920d6ae2ac8260d2179943d0bf9
starts=5
system_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
built=no stages=no
passed=0 failed=0 skipped=0
work=$(mktemp -d)
chmod 711 "$work"
mounted='' server=''

# Uses a separate storage.
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

# Stops the script, because nothing can be checked. The line has the reason, because test.sh repeats only such lines at its end.
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
  # type -P finds only files; "command -v" would find the function buildah above.
  for program in "$@"; do type -P "$program" >/dev/null || missing+=("$program"); done
  [ ${#missing[@]} = 0 ] || { update_lists && DEBIAN_FRONTEND=noninteractive quietly apt-get install -y -qq -o Acquire::Retries=3 --no-install-recommends "${missing[@]}"; }
}

update_lists() { quietly apt-get update -qq -o Acquire::Retries=3; }

# Retries, because a single failure of a mirror is not a fault of the image.
make_system() { quietly mmdebstrap --aptopt='Acquire::Retries "3"' --variant=extract --include="$1" "$2" "$work/base.tar"; }

# Sets $base to the base image of the Dockerfile, or to one with the same libraries from Debian packages.
take_base() {
  base=$(sed -n 's/^ARG RUNTIME_IMAGE=//p' "$root/docker/Dockerfile")
  timeout 60 buildah --root "$work/storage" --runroot "$work/run" pull --quiet "$base" >/dev/null 2>&1 && return
  echo "image.sh: ${base%@*} cannot be pulled here; its libraries are taken from Debian's packages" >&2
  need mmdebstrap || return 1
  local release icu files=$work/base
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  # A machine without installed packages may lack the lists that contain the version of ICU.
  [ -n "$(apt-cache pkgnames libicu)" ] || update_lists || return 1
  icu=$(apt-cache pkgnames libicu | grep -x 'libicu[0-9]*' | sort -V | tail -n 1)
  make_system "libc6,libgcc-s1,libstdc++6,libssl3,$icu,zlib1g,ca-certificates,tzdata,openssl" "$release" || return 1
  mkdir -p "$files"
  # Extracts only the files that a running server reads: libraries without legacy encodings, time zones, certificates, licenses.
  tar -xf "$work/base.tar" -C "$files" --wildcards \
    './lib*' './usr/lib/*-linux-gnu/lib*.so*' './usr/lib/ssl' './usr/share/zoneinfo' './usr/share/ca-certificates' './usr/share/doc/*/copyright' \
    './etc/ssl' './etc/os-release' './usr/lib/os-release' 2>"$work/log" || [ -e "$files/usr/lib/ssl" ] || return 1
  # The package's script would collect all certificates in this file, but an extracted package has not run it.
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

# make_builder NAME PACKAGES: replaces a build image of the Dockerfile, with the registries and certificates of this machine.
make_builder() {
  local name=$1 packages=$2 scratch variable folder=$work/$1
  make_builder_files "$folder" "$packages" || return 1
  scratch=$(buildah from scratch) && quietly buildah add "$scratch" "$folder" / || return 1
  buildah config --env PATH="$system_path" --env HOME=/root "$scratch"
  for variable in NODE_EXTRA_CA_CERTS NUGET_CERT_REVOCATION_MODE; do
    [ -z "${!variable:-}" ] || buildah config --env "$variable=${!variable}" "$scratch"
  done
  quietly buildah commit --quiet "$scratch" "localhost/sluice-$name" && buildah rm "$scratch" >/dev/null
  rm -rf "$folder"
}

make_builder_files() {
  local folder=$1 release
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  quietly mmdebstrap --aptopt='Acquire::Retries "3"' --variant=apt --include="ca-certificates,$2" "$release" "$folder" || return 1
  cp -L /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/"
  [ ! -e ~/.npmrc ] || cp ~/.npmrc "$folder/root/"
  [ ! -e ~/.nuget/NuGet ] || { mkdir -p "$folder/root/.nuget" && cp -r ~/.nuget/NuGet "$folder/root/.nuget/"; }
}

# renew NAME WHAT COMMANDS: runs commands in a container of a make_builder image, named $scratch, and saves the result.
renew() {
  local scratch
  scratch=$(buildah from --pull-never "localhost/sluice-$1") && quietly eval "$3" && quietly buildah commit --quiet "$scratch" "localhost/sluice-$1" \
    && buildah rm "$scratch" >/dev/null || stop "adding $2"
}

# The SDK stage takes its packages from this machine's cache, if they are there.
build_stages() {
  local icu dotnet
  icu=$(apt-cache pkgnames libicu | grep -x 'libicu[0-9]*' | sort -V | tail -n 1)
  make_builder node nodejs,npm || stop "making the image with Node.js"
  # Debian's npm is too old for the packages of the web UI.
  renew node "npm, newer than Debian's" 'buildah run --isolation chroot "$scratch" -- npm install --global npm@10'
  make_builder sdk "libstdc++6,libssl3,zlib1g,$icu" || stop "making the image with the SDK"
  dotnet=$(dirname "$(readlink -f "$(command -v dotnet)")")
  mkdir -p ~/.nuget/packages
  renew sdk "the SDK" 'buildah add "$scratch" "$dotnet" /usr/share/dotnet && buildah config --env "PATH=/usr/share/dotnet:$system_path" "$scratch"'
  build_with "$root/docker/Dockerfile" --volume "$HOME/.nuget/packages:/root/.nuget/packages" \
    --build-arg NODE_IMAGE=localhost/sluice-node --build-arg SDK_IMAGE=localhost/sluice-sdk --build-arg LEVELS="$levels"
}

# Writes a Dockerfile that copies a finished server instead of compiling it. The stage of the image is the same.
write_short_file() {
  { echo 'ARG RUNTIME_IMAGE'
    printf '%s\n' 'FROM scratch AS build' 'COPY artifacts/image/app /app' 'COPY artifacts/image/config /config'
    sed -n '/^FROM ${RUNTIME_IMAGE}$/,$p' "$root/docker/Dockerfile"; } >"$work/Dockerfile"
}

# build_with DOCKERFILE OPTION...
build_with() {
  local dockerfile=$1; shift
  quietly buildah build --isolation chroot --format docker --build-arg RUNTIME_IMAGE="$base" \
    --build-arg REVISION="$(git -C "$root" rev-parse HEAD 2>/dev/null)" "$@" -f "$dockerfile" -t "$image" "$root" || stop "the build of the image"
}

build_image() {
  take_base || stop "making the base"
  if [ "$stages" = yes ]; then
    build_stages
  else
    "$root/tools/release.sh" --folder "$layout/app" || stop "laying out the server"
    # Removes levels that the image does not have, because a build for tests may have other ones.
    case "$levels" in *v4*) ;; *) [ ! -e "$layout/app/sluice.v3" ] || rm -f "$layout/app/sluice.v4" ;; esac
    rm -rf "$layout/config" && mkdir -p "$layout/config"
    write_short_file
    build_with "$work/Dockerfile"
  fi
  rm -f "$file"
  quietly buildah push "$image" "docker-archive:$file:sluice:$version" || stop "writing the image"
  mounted=$(buildah mount "$(buildah from --pull-never "$image")") || stop "mounting the image"
}

# --- running --------------------------------------------------------------------------------------------------------------------------

# Creates a folder with the given owner, and sets $volume.
make_volume() { volume=$(mktemp -d "$work/volume.XXXXXX") && chown "$1" "$volume" && chmod 755 "$volume"; }

# Imitates a container engine: a new named volume gets the owner and the mode of the image's folder.
make_named_volume() { make_volume "$(stat -c %u:%g "$mounted/config")" && chmod --reference="$mounted/config" "$volume"; }

# Enters the root of the image as a container engine starts docker-compose.yml: as a user and group, with only the capabilities CHOWN,
# SETGID and SETUID, and without a way to gain more. The image has no program that could do this from the inside.
cat >"$work/enter" <<'PERL'
use POSIX;
my ($root, $user, @command) = @ARGV;
my ($uid, $gid) = split /:/, $user;
my $prctl = (POSIX::uname())[4] eq "x86_64" ? 157 : 167;
chroot $root and chdir "/" or die "chroot: $!";
for my $capability (grep { !/^[067]$/ } 0 .. 40) { syscall $prctl, 24, $capability, 0, 0, 0 }
syscall $prctl, 38, 1, 0, 0, 0;
$) = "$gid $gid"; $( = $gid; POSIX::setuid($uid);
exec { $command[0] } @command or die "exec: $!";
PERL

# Lists the variables of the image, one per line.
variables() { buildah inspect --type image --format '{{range .OCIv1.Config.Env}}{{println .}}{{end}}' "$image" | grep .; }

# start USER:GROUP [NAME=VALUE...]: starts the image's command with its variables over $volume, in a process namespace of its own. The
# output goes to $work/output. $shell is the process to wait for, $server the server itself.
start() {
  local user=$1 variables command; shift
  mapfile -t variables < <(variables)
  mapfile -t command < <(buildah inspect --type image --format '{{range .OCIv1.Config.Entrypoint}}{{println .}}{{end}}' "$image" | grep .)
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
    "$(command -v perl)" "$work/enter" "$mounted" "$user" "${command[@]}" </dev/null >"$work/output" 2>&1 &
  shell=$!
  server=''
}

# Returns milliseconds since the epoch.
now() { date +%s%3N; }

get() { curl -sf --max-time 20 "$@"; }

# Waits until the server responds, and stores the time in $took.
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

# stop_server SIGNAL: stops the server and returns its exit code.
stop_server() { local code=0; kill "-$1" "$server"; wait "$shell" || code=$?; server=''; return "$code"; }

# refused USER:GROUP PATTERN [NAME=VALUE...]: checks that the server does not start and prints the reason in one line.
refused() {
  local user=$1 pattern=$2 code=0; shift 2
  start "$user" "$@"
  wait "$shell" || code=$?
  [ "$code" = 78 ] && [ "$(wc -l <"$work/output")" = 1 ] && grep -q "$pattern" "$work/output"
}

# Returns the PUID and PGID that the last start recommended in its message.
advised() { sed -n 's/.*PUID=\([0-9]*\) PGID=\([0-9]*\).*/PUID=\1 PGID=\2/p' "$work/output"; }

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

# Lists ids and names of the queue.
queue() { get "http://127.0.0.1:$port/api?mode=queue&output=json&apikey=$key" | grep -o '"\(nzo_id\|filename\)":"[^"]*"'; }

add() {
  printf '<nzb xmlns="http://www.newzbin.com/DTD/2003/nzb"><file poster="p" date="1" subject="&quot;%s.mkv&quot; yEnc (1/1)"><groups><group>a.b</group></groups><segments><segment bytes="100" number="1">%s@example</segment></segments></file></nzb>' \
    "$1" "$1" >"$work/$1.nzb"
  get -F "name=@$work/$1.nzb" "http://127.0.0.1:$port/api?mode=addfile&cat=movies&apikey=$key" | grep -q '"status":true'
}

# Plays the clip twice: one player reads slowly, and one is paused.
play_the_clip() {
  curl -s --limit-rate 20k -o /dev/null -u "admin:$password" "http://127.0.0.1:$port/content/demo/sluice-demo.mp4" &
  player=$!
  exec 5<>"/dev/tcp/127.0.0.1/$port" && printf 'GET /content/demo/sluice-demo.mp4 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic %s\r\n\r\n' \
    "$(printf %s "admin:$password" | base64 -w 0)" >&5
  sleep 1
}

stops_within_8_s() {
  local began code=0
  began=$(now)
  stop_server TERM || code=$?
  took=$(($(now) - began))
  exec 5>&-
  wait "$player"
  echo "image.sh: stopped after $took ms, while two players read" >&2
  [ "$code" = 0 ] && [ "$took" -le 8000 ]
}

# Runs the shell script of the rclone service in docker-compose.yml, with a listing in place of the mount.
rclone_shell() {
  local program
  program=$(awk '/^  rclone:/ { on = 1 } on && /^      - \|/ { take = 1; next } take && !/^        / { exit } take' "$root/docker-compose.yml" | sed 's/^        //; s/\$\$/$/g')
  mkdir -p "$work/bin"
  printf '#!/bin/sh\n[ "$1" = mount ] || exec %s "$@"\nexec %s lsf "$2content/demo"\n' "$(type -P rclone)" "$(type -P rclone)" >"$work/bin/rclone"
  chmod 755 "$work/bin/rclone"
  env PATH="$work/bin:$PATH" PUID=1000 PGID=1000 MOUNT_DIR="$work/mount" WEBDAV_PASSWORD="$1" RCLONE_CONFIG_SLUICE_TYPE=webdav RCLONE_CONFIG_SLUICE_VENDOR=other \
    RCLONE_CONFIG_SLUICE_URL="http://127.0.0.1:$port" RCLONE_CONFIG_SLUICE_USER=admin /bin/sh -ec "$program" 2>&1
}

check_rclone() {
  need rclone wget || { echo "image.sh: the rclone service is not checked, because rclone or wget cannot be installed"; skipped=$((skipped + 1)); return; }
  check "the rclone service reads the tree with the password of .env" eval 'rclone_shell "$password" | grep -qx sluice-demo.mp4'
  check "the rclone service without a password says what to set" eval '[[ $(rclone_shell "") == "rclone needs WEBDAV_PASSWORD in .env"* ]]'
}

median() { sort -n | sed -n "$((starts / 2 + 1))p"; }

# Runs the image like docker run, over a new named volume, from the first start to the stop.
run_as_root() {
  local before
  make_named_volume
  check "a read-only root and three capabilities: ready" start_ready 0:0 || return
  check "there were no others" grep -q '^CapBnd:	00000000000000c1$' "/proc/$server/status"
  check "none is left" grep -q '^CapEff:	0000000000000000$' "/proc/$server/status"
  password=$(sed -n 's|.*http://admin:\([^@]*\)@.*|\1|p' "$work/output" | head -n 1)
  key=$(sed -n 's/^ *API key *//p' "$work/output")
  check "the process is user 1000" status_is 1000 1000
  check "nothing but the volume can be written" cannot_write app
  check "the health check of the image" health_check "$port"
  check "the health check fails at another port" not health_check 1
  check "the version is a label of the image" eval '[ "$(buildah inspect --type image --format "{{index .OCIv1.Config.Labels \"org.opencontainers.image.version\"}}" "$image")" = "$version" ]'
  check "the clip plays" clip_plays
  check "the web UI is served" get "http://127.0.0.1:$port/" -o /dev/null -H 'Accept: text/html'
  get "http://127.0.0.1:$port/api?mode=pause&output=json&apikey=$key" >/dev/null
  check "NZBs are taken" eval 'add one && add two && add three'
  before=$(queue)
  stop_server KILL
  check "started anew after a kill" start_ready 0:0
  check "the queue is the same" eval '[ -n "$before" ] && [ "$(queue)" = "$before" ]'
  check "the password and the clip are the same" clip_plays
  check_rclone
  play_the_clip
  check "SIGTERM while two players read stops it within 8 s, with code 0" stops_within_8_s
}

not() { ! "$@" 2>/dev/null; }

# stops_as USER:GROUP: checks the user of a started server, and stops it.
stops_as() { check "$2: it is $1" status_is "${1%:*}" "${1#*:}" && check "$2: it stops" stop_server TERM; }

# run_as USER:GROUP: runs with PUID and PGID over the usual kinds of volumes.
run_as() {
  local owner=$1 ids="PUID=${1%:*} PGID=${1#*:}" variables
  read -ra variables <<<"$ids"
  make_named_volume
  check "$ids, a new named volume: ready" start_ready 0:0 "${variables[@]}" && stops_as "$owner" "$ids, a new named volume"
  make_volume 0:0
  check "$ids, a folder of root: ready" start_ready 0:0 "${variables[@]}" && stops_as "$owner" "$ids, a folder of root"
  make_volume 4321:4321
  mkdir -m 700 "$volume/of-another" && touch "$volume/of-another/file" && chown -R 4321:4321 "$volume/of-another"
  check "$ids, a volume with files of another: ready" start_ready 0:0 "${variables[@]}" && stops_as "$owner" "$ids, a volume with files of another"
  check "$ids: those files keep their owner" [ "$(stat -c %u:%g "$volume/of-another/file")" = 4321:4321 ]

  # Files of another Sluice can be used only by their owner, whom the message names.
  make_volume 0:0
  start_ready 0:0 PUID=4321 PGID=4321 && stop_server TERM
  check "$ids, the data of another: told what to set" refused 0:0 "sluice.db is not readable and writable by uid ${1%:*} (owner 4321:4321, .*PUID=4321 PGID=4321" "${variables[@]}"
  read -ra variables <<<"$(advised)"
  check "$ids, the data of another: the advice works" start_ready 0:0 "${variables[@]}" && stops_as 4321:4321 "$ids, the data of another"
  [ "$owner" = 0:0 ] || {
    chown -R "$owner" "$volume"
    read -ra variables <<<"$ids"
    check "$ids, the data of another: chown -R works" start_ready 0:0 "${variables[@]}" && check "it stops" stop_server TERM
  }
}

# run_with_user USER:GROUP: runs as the same user by user: in the compose file, where Sluice cannot change owners.
run_with_user() {
  local owner=$1 variables
  make_volume "$owner"
  check "user: $owner, a folder of theirs: ready" start_ready "$owner" && stops_as "$owner" "user: $owner, a folder of theirs"
  make_named_volume
  check "user: $owner, a new named volume: told what to set" refused "$owner" "/config is not writable by uid ${1%:*} (owner 1000:1000, .*chown -R $owner /config.*PUID=${1%:*} PGID=${1#*:}, without user:"
  read -ra variables <<<"$(advised)"
  check "user: $owner, a new named volume: the advice works" start_ready 0:0 "${variables[@]}" && stops_as "$owner" "user: $owner, a new named volume"
  make_volume 0:0
  check "user: $owner, a folder of root: told what to set" refused "$owner" "/config is not writable by uid ${1%:*} (owner 0:0, .*PUID=${1%:*} PGID=${1#*:}, without user:"
  read -ra variables <<<"$(advised)"
  check "user: $owner, a folder of root: the advice works" start_ready 0:0 "${variables[@]}" && stops_as "$owner" "user: $owner, a folder of root"
}

not() { ! "$@" 2>/dev/null; }

# Runs as the users of a Synology, of Unraid and of a rootless engine, and as the image's user by user:.
run_as_others() {
  local owner
  for owner in 1026:100 99:100 0:0; do run_as "$owner"; done
  for owner in 1026:100 99:100; do run_with_user "$owner"; done
  make_named_volume
  check "user: 1000:1000, a new named volume: ready" start_ready 1000:1000 && stops_as 1000:1000 "user: 1000:1000"
}

resident_now() { awk '$1 == "VmRSS:" { print $2 * 1024 }' "/proc/$server/status"; }

# Measures the figures of docs/bars.md: medians of starts over a new volume.
run_bars() {
  local i ready_times=() residents=() idles=() size ready_time quickest slowest resident idle
  for ((i = 0; i < starts; i++)); do
    make_named_volume
    start_ready 0:0 || { check "a start" false; return; }
    ready_times+=("$took")
    sleep 3
    residents+=("$(resident_now)")
    sleep 9
    idles+=("$(resident_now)")
    stop_server TERM
  done
  size=$(du -s -B1 --apparent-size "$mounted" | cut -f 1)
  ready_time=$(printf '%s\n' "${ready_times[@]}" | median)
  quickest=$(printf '%s\n' "${ready_times[@]}" | sort -n | head -n 1)
  slowest=$(printf '%s\n' "${ready_times[@]}" | sort -n | tail -n 1)
  resident=$(printf '%s\n' "${residents[@]}" | median)
  idle=$(printf '%s\n' "${idles[@]}" | median)
  # A busy machine or one with few cores spreads the times, so the output has the range too.
  echo "image.sh: $((size / 1000000)) MB unpacked; ready after $ready_time ms, $quickest to $slowest on these $(nproc) cores, $((resident / 1000000)) MB resident 3 s later, $((idle / 1000000)) MB 12 s later (medians of $starts starts)"
  echo "image.sh: $file, $(du -h "$file" | cut -f 1)"
  check "at most 150 MB unpacked" [ "$size" -le 150000000 ]
  [ "$built" = yes ] || check "ready within a second" [ "$ready_time" -le 1000 ]
  check "at most 60 MB resident after the start" [ "$resident" -le 60000000 ]
  [ "$built" = yes ] || check "at most 50 MB resident when idle" [ "$idle" -le 50000000 ]
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
  --stages) stages=yes built=yes ;;
  *) sed -n '2,14s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || skip "it needs root and Debian's packages"
need buildah || skip "buildah cannot be installed"
levels=${LEVELS:-$(sed -n 's/^ARG LEVELS="\(.*\)"/\1/p' "$root/docker/Dockerfile")}
if [ "$built" = no ]; then LEVELS=$levels "$root/tools/publish.sh" --aot || stop "the build of the server"; fi
port=$((20000 + RANDOM % 12000))
build_image
check "nothing can be executed but the server" only_the_server
check "time zones and certificates are there" has_zones_and_certificates
run_as_root
run_as_others
run_bars
check_compose
finish
