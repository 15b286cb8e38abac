#!/usr/bin/env bash
# Reads one release from a running server with the clients that people use, and compares the bytes.
#
#   tools/clients.sh                    sets up, builds, and runs every client that is available here
#   tools/clients.sh rclone mpv         only these: curl rclone mount davfs2 cadaver npm ffmpeg mpv chromium
#   tools/clients.sh --built [NAME...]  without the build, for tools/test.sh, which has built already
#
# SERVER=FILE uses another build of the server. ffmpeg makes a film of 60 s, the mock news server holds it, and the server serves it. Prints a
# table of the runs with versions; the last line reads "N passed, N failed, N skipped". An unavailable client gets one line with the reason.
# The exit code is 0 only if something ran and nothing failed.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$root/tools/clients
all=(curl rclone mount davfs2 cadaver npm ffmpeg mpv chromium)
user=admin password=correct-horse-battery key=0123456789abcdef0123456789abcdef
release=clients folder=content/movies/clients
passed=0 failed=0 skipped=0 rows=()

built=no
[ "${1:-}" != --built ] || { built=yes; shift; }
chosen=("$@")
[ $# -gt 0 ] || chosen=("${all[@]}")
for name in "${chosen[@]}"; do
  case " ${all[*]} " in
    *" $name "*) ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
  esac
done

work=$(mktemp -d "${TMPDIR:-/tmp}/sluice-clients-XXXXXX")
chmod 755 "$work"
started=() mounted=()

# Stops only the processes that this script started, by their ids.
clean_up() {
  local it
  for it in ${mounted[@]+"${mounted[@]}"}; do unmount "$it"; done
  for it in ${started[@]+"${started[@]}"}; do kill "$it" 2>/dev/null; wait "$it" 2>/dev/null; done
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# try CLIENT VERSION WHAT COMMAND...: adds one row to the table, with the exit code of the command as its result.
try() {
  local client=$1 version=$2 what=$3 result=ok begin=$SECONDS; shift 3
  if "$@" >"$work/output" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1)) result=FAILED
    echo "clients.sh: $client, $what:"
    tail -n 20 "$work/output" | cut -c 1-300 | sed 's/^/    /'
  fi
  rows+=("$(printf '%-9s %-15s %-61s %3s s  %s' "$client" "$version" "$what" $((SECONDS - begin)) "$result")")
}

# skip CLIENT WHY: adds the row of a client that is unavailable here.
skip() {
  skipped=$((skipped + 1))
  rows+=("$(printf '%-9s %-15s %s' "$1" - "cannot run here: $2")")
}

unmount() { mountpoint -q "$1" || return 0; fusermount3 -u "$1" 2>/dev/null || umount "$1"; }

has() { command -v "$1" >/dev/null; }

# Installs the packages of the chosen clients. A client reports its own missing package.
install_packages() {
  local name package missing=()
  for name in film "${chosen[@]}"; do
    case "$name" in
      film | ffmpeg) has ffmpeg || missing+=(ffmpeg) ;;
      rclone) has rclone || missing+=(rclone) ;;
      mount) has rclone || missing+=(rclone); has fusermount3 || missing+=(fuse3) ;;
      davfs2) has mount.davfs || missing+=(davfs2) ;;
      npm) has npm || missing+=(npm) ;;
      chromium) has npm || missing+=(npm); has chromium || missing+=(chromium) ;;
      *) has "$name" || missing+=("$name") ;;
    esac
  done
  [ ${#missing[@]} -gt 0 ] && [ "$(id -u)" = 0 ] && has apt-get || return 0
  apt-get update -qq >/dev/null 2>&1
  for package in $(printf '%s\n' "${missing[@]}" | sort -u); do
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1 \
      && echo "clients.sh: installed $package"
  done
  hash -r
}

# Installs the clients from npm as locked in the lock file. They are kept, so the next run needs no network.
install_modules() {
  [ "$here/node_modules/.package-lock.json" -nt "$here/package-lock.json" ] && return
  (cd "$here" && npm ci --omit=optional --ignore-scripts --no-audit --no-fund) >"$work/npm.log" 2>&1
}

build() {
  export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
  local project
  for project in src/Server/Server.csproj ../tools/MockNntpServer/MockNntpServer.csproj; do
    (cd "$root/backend" && dotnet restore --locked-mode -v quiet "$project" && dotnet build --no-restore -c Release -v quiet "$project") || return
  done
}

# Makes one film in two containers. Its lowest 32 lines are a bar code of sixteen fields that encodes the frame number, so that each
# picture identifies its frame.
make_film() {
  ffmpeg -v error -f lavfi -i "testsrc2=size=640x328:rate=25:duration=60" \
    -f lavfi -i "color=size=640x32:rate=25:duration=60,format=gray,geq=lum='255*mod(floor(N/pow(2,floor(X/40))),2)'" \
    -f lavfi -i "sine=frequency=440:beep_factor=4:sample_rate=44100:duration=60" \
    -filter_complex "[0:v]noise=alls=8:allf=t:all_seed=1[noisy];[1:v]format=yuv420p[code];[noisy][code]vstack=inputs=2,format=yuv420p[v]" \
    -map "[v]" -map 2:a -c:v libx264 -profile:v main -preset ultrafast -b:v 4M -g 50 -c:a aac -b:a 64k \
    -movflags +faststart "$work/film.mp4" \
    && ffmpeg -v error -i "$work/film.mp4" -c copy "$work/film.mkv"
}

# wait_for SECONDS COMMAND...: repeats the command until it succeeds.
wait_for() {
  local end=$((SECONDS + $1)); shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.1
  done
}

free_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 12000))
    (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
}

start_server() {
  local news
  "$root/tools/MockNntpServer/bin/Release/net10.0/Sluice.Tools.MockNntpServer" --media="$work/film.mp4" --media="$work/film.mkv" \
    --nzb="$work/$release.nzb" --latency=20 --jitter=5 --connections=8 2>"$work/mock.log" >/dev/null &
  started+=($!)
  wait_for 60 grep -q '^ready' "$work/mock.log" || { cat "$work/mock.log"; return 1; }
  news=$(sed -n 's/^ready nntp=[^ ]*:\([0-9]*\) .*/\1/p' "$work/mock.log")

  port=$(free_port) host=http://127.0.0.1:$port
  SLUICE_CONFIG__WEBDAV__USER=$user SLUICE_CONFIG__WEBDAV__PASS=$password SLUICE_CONFIG__API__KEY=$key \
    SLUICE_CONFIG__USENET__PROVIDERS='{"Providers":[{"Host":"127.0.0.1","Port":'$news',"UseSsl":false,"MaxConnections":8}]}' \
    CONFIG_PATH=$work/data PORT=$port BIND_ADDRESS=127.0.0.1 \
    "${SERVER:-$root/backend/src/Server/bin/Release/net10.0/Sluice.Server}" >"$work/server.log" 2>&1 &
  started+=($!)
  wait_for 60 curl -sf "$host/readyz" || { cat "$work/server.log"; return 1; }

  curl -sf -u "$user:$password" -T "$work/$release.nzb" "$host/nzbs/movies/" >/dev/null \
    && wait_for 60 curl -sfI -u "$user:$password" "$host/$folder/film.mkv" \
    || { cat "$work/server.log"; return 1; }
}

# address FILE: its URL with the credentials of a player.
address() { echo "http://$user:$password@${host#http://}/$folder/$1"; }

# signed FILE: its signed link under /view (DAV-81).
signed() {
  local digest
  digest=$(printf %s "$folder/$1" | openssl dgst -sha256 -hmac "$key")
  echo "$host/view/$folder/$1?downloadKey=${digest##* }"
}

# Limits the time of a command, so that a hanging program fails and does not delay the others.
bounded() { timeout 120 "$@"; }

sum_of() { sha256sum | cut -d ' ' -f 1; }

# equal_sum FILE: whether standard input equals the file of the release.
equal_sum() {
  local arrived wanted
  arrived=$(sum_of) wanted=$(sum_of <"$work/$1")
  [ "$arrived" = "$wanted" ] || { echo "sha256 of $1: wanted $wanted, arrived $arrived"; return 1; }
}

# part_of FILE OFFSET COUNT
part_of() { tail -c "+$(($2 + 1))" "$1" | head -c "$3"; }

# Returns the same offsets in every run, spread over a file of this size.
offsets() { awk -v count="$1" -v size="$2" 'BEGIN { srand(20260110); for (i = 0; i < count; i++) print int(rand() * size) }'; }

finish() {
  [ ${#rows[@]} -eq 0 ] || printf '%s\n' "${rows[@]}"
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
  exit
}

for name in "${all[@]}"; do . "$here/$name.sh"; done

install_packages
for name in curl ffmpeg; do
  # Both programs are needed to make the film and the release.
  has "$name" || { for client in "${chosen[@]}"; do skip "$client" "$name is not installed"; done; finish; }
done
[ "$built" = yes ] || build || { echo "clients.sh: the build failed"; failed=1; finish; }
make_film && start_server || { echo "clients.sh: no server with a release came up"; failed=1; finish; }
for name in "${chosen[@]}"; do "run_$name"; done
finish
