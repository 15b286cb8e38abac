#!/usr/bin/env bash
# Packs the shipped form (tools/publish.sh --aot) into archives, with checksums and lists of its packages.
#
#   tools/release.sh               builds every level and packs artifacts/release/: sluice-VERSION-linux-x64.tar.gz, the same for arm64
#                                  if it could be built, SHA256SUMS, and a CycloneDX list of the packages of the server and the web UI
#   tools/release.sh --built       packs the existing build, without the lists
#   tools/release.sh --folder DIR  lays out only the folder of an archive for this machine, from the existing build
#   tools/release.sh --try [SUITE...]   installs the packed archive by the commands of docs/install.md, in a new chroot of each Debian
#                                  suite (bookworm and trixie by default), and reads a film
#
# The last line of --try reads "N passed, N failed, N skipped".
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
version=$(sed -n 's|.*<Version>\(.*\)</Version>.*|\1|p' "$root/backend/Directory.Build.props")
out=$root/artifacts/release
log=$(mktemp)
trap 'rm -f "$log"' EXIT

fail() { echo "release.sh: $1" >&2; exit 1; }

step() {
  local what=$1; shift
  "$@" >"$log" 2>&1 || { cat "$log" >&2; fail "$what failed"; }
}

# lay_out FROM TO: lays out one build as it is installed.
lay_out() {
  local from=$1 to=$2 file
  [ -x "$from/Sluice.Server" ] || fail "there is no build in $from; tools/publish.sh --aot makes it"
  [ -e "$from/wwwroot/index.html" ] || fail "$from has no web UI; it is built where npm is installed"
  rm -rf "$to" && mkdir -p "$to" || exit 1
  for file in "$from"/Sluice.Server*; do
    install -m 755 "$file" "$to/sluice${file#"$from/Sluice.Server"}" || exit 1
  done
  install -m 644 "$from"/*.so "$root/LICENSE" "$to/" && cp -r "$from/wwwroot" "$to/" && chmod -R u=rwX,go=rX "$to/wwwroot" || exit 1
}

# Checks the glibc version that docs/install.md promises, because the newest symbols of a build depend on the system that linked it.
check_glibc() {
  local newest
  newest=$(grep -aohE 'GLIBC_2\.[0-9]+' "$1"/Sluice.Server* "$1"/*.so | sort -V | tail -n 1)
  [ "$(printf '%s\n' "$newest" GLIBC_2.34 | sort -V | tail -n 1)" = GLIBC_2.34 ] || fail "$1 needs $newest, newer than 2.34; build it on Debian 12 or Ubuntu 22.04"
}

# pack FROM PLATFORM: packs one archive; the same build gives the same bytes.
pack() {
  local from=$1 name=sluice-$version-$2 epoch
  check_glibc "$from"
  epoch=$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 0)
  lay_out "$from" "$out/$name"
  install -m 644 "$root/README.md" "$root/config/sluice.service" "$root/config/sluice-mount.service" "$root/config/rclone.conf.example" "$out/$name/" || exit 1
  step "packing $name" bash -c 'cd "$1" && tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$3" -cf - "$2" | gzip -9n >"$2.tar.gz"' _ "$out" "$name" "$epoch"
  rm -rf "${out:?}/$name"
  (cd "$out" && sha256sum "$name.tar.gz" >>SHA256SUMS)
  echo "release.sh: $out/$name.tar.gz, $(du -h "$out/$name.tar.gz" | cut -f 1)"
}

# Writes CycloneDX lists of the packages of the server and the web UI. Without the tool or Node.js, prints one line.
list_packages() {
  local tools=$root/artifacts/tools
  if [ -x "$tools/dotnet-CycloneDX" ] || dotnet tool install --tool-path "$tools" CycloneDX --version 6.3.1 >"$log" 2>&1; then
    step "the list of the server's packages" env DOTNET_ROLL_FORWARD=Major "$tools/dotnet-CycloneDX" "$root/backend/src/Server/Server.csproj" \
      --output "$out" --filename "sluice-$version-server.cdx.json" --output-format Json --set-name Sluice --set-version "$version" --exclude-dev
  else
    echo "release.sh: without a list of the server's packages, because the tool that makes it cannot be had" >&2
  fi
  step "the list of the web UI's packages" bash -c 'cd "$1" && npm sbom --omit=dev --sbom-format=cyclonedx >"$2"' _ "$root/frontend" "$out/sluice-$version-ui.cdx.json"
  (cd "$out" && sha256sum ./*.cdx.json | sed 's|\./||' >>SHA256SUMS)
}

pack_all() {
  rm -rf "$out" && mkdir -p "$out" || exit 1
  pack "$root/artifacts/server-aot" "linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')"
  [ ! -x "$root/artifacts/server-aot-arm64/Sluice.Server" ] || pack "$root/artifacts/server-aot-arm64" linux-arm64
}

# Prints the commands of docs/install.md between the marks of the archive, in order.
commands() {
  awk '/<!-- archive: tried -->/ { on = 1 } /<!-- archive: end -->/ { on = 0 } /^```/ { block = on && $0 == "```sh"; next } block' "$root/docs/install.md"
}

not_tried() { echo "release.sh: the archive is not tried, because $1"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }

# try_in SUITE: runs these commands as root of a system with only Debian's essential packages, and apt to install the rest.
try_in() {
  local suite=$1 archive=$2 system code=0
  system=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$log' '$system'" EXIT
  step "making a system" mmdebstrap --quiet --variant=apt "$suite" "$system"
  cp -L /etc/resolv.conf "$system/etc/" 2>/dev/null
  cp "$archive" "$out/SHA256SUMS" "$system/root/"
  { echo 'set -euo pipefail'; commands; } >"$system/root/commands.sh"
  # The system shares the loopback of this machine, where the port may be in use.
  timeout 600 unshare --mount --pid --fork --kill-child --mount-proc=/proc --root="$system" --wd=/root \
    /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive PORT=$((20000 + RANDOM % 12000)) /bin/bash /root/commands.sh || code=$?
  if [ "$code" = 0 ] && command -v ffmpeg >/dev/null; then
    ffmpeg -v error -nostdin -i "$system/root/first.mp4" -frames:v 1 "$system/root/first.png" && [ -s "$system/root/first.png" ] || code=1
  fi
  rm -rf "$system"
  return "$code"
}

try() {
  local suite archive tried=0 failed=0 began
  archive=$out/sluice-$version-linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/').tar.gz
  [ -e "$archive" ] || fail "there is no $archive; tools/release.sh packs it"
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || not_tried "it needs root and apt"
  command -v mmdebstrap >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mmdebstrap; } >"$log" 2>&1 \
    || not_tried "mmdebstrap cannot be installed"
  for suite in "$@"; do
    began=$SECONDS
    if try_in "$suite" "$archive"; then
      echo "passed: the archive in Debian's $suite by the commands of docs/install.md, up to the first picture, $((SECONDS - began)) s with the system"
    else
      echo "FAILED: the archive in Debian's $suite by the commands of docs/install.md"
      failed=$((failed + 1))
    fi
    tried=$((tried + 1))
  done
  echo "$((tried - failed)) passed, $failed failed, 0 skipped"
  [ "$failed" = 0 ]
}

case "${1:-}" in
  "") "$root/tools/publish.sh" --aot || fail "the build failed"; pack_all; list_packages ;;
  --built) pack_all ;;
  --folder) [ $# = 2 ] || fail "--folder needs a folder"; lay_out "$root/artifacts/server-aot" "$2" ;;
  --try) shift; [ $# -gt 0 ] || set -- bookworm trixie; try "$@" ;;
  *) sed -n '2,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
