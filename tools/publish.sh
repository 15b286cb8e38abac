#!/usr/bin/env bash
# Builds the server to run. Used by tools/run.sh, tools/measure.sh and tools/test.sh.
#
#   tools/publish.sh [property for the build...]        into artifacts/server: uses the machine's runtime, with code compiled ahead, so
#                                                       that neither the start nor the first film waits for the compiler
#   tools/publish.sh --aot [property...]                into artifacts/server-aot: the shipped form, compiled ahead completely, which
#                                                       needs no runtime (native AOT)
#   tools/publish.sh --failpoints [property...]         into artifacts/server-failpoints: the ordinary form with the steps at which
#                                                       tests kill the process; no other build has them
#
# The web UI is built first if Node.js is available (tools/frontend.sh). It is in wwwroot next to the server, with compressed copies.
#
# A property is for example -p:Configuration=Debug. --aot builds every shipped instruction level of x86-64, and arm64 into
# artifacts/server-aot-arm64. LEVELS="v2 v4" selects other levels: v2 (runs everywhere and starts a higher one if possible), v3, v4,
# arm64, and "here" for the highest of this machine, which works without v2.
#
# Quiet unless it fails. --aot installs its tools from Debian packages if possible: clang and lld, and for arm64 a cross compiler. If these
# or the packages for compiling ahead are unavailable, --aot exits with code 3, or skips arm64 with one line, and the ordinary form is
# built without code compiled ahead.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
cd "$root/backend"
project=src/Server/Server.csproj
form=ordinary
out=$root/artifacts/server
case "${1:-}" in
  --aot) form=aot; shift ;;
  --failpoints) shift; out=$root/artifacts/server-failpoints; set -- -p:Failpoints=true "$@" ;;
esac

quietly() { "$@" >"$log" 2>&1; }

fail() {
  cat "$log" >&2
  echo "publish.sh: $1 failed" >&2
  exit "${2:-1}"
}

platform() { dotnet msbuild -getProperty:NETCoreSdkPortableRuntimeIdentifier "$project"; }

ahead() {
  local here
  here=$(platform) || return 1
  quietly dotnet publish "$project" -c Release -r "$here" --no-self-contained -p:PublishReadyToRun=true -o "$out" "$@"
}

# Installs Debian packages if no question is needed; succeeds if each program exists afterwards.
need() {
  local packages=$1 program missing=no; shift
  for program in "$@"; do command -v "$program" >/dev/null || missing=yes; done
  [ "$missing" = yes ] || return 0
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
  # shellcheck disable=SC2086
  quietly apt-get update -qq && DEBIAN_FRONTEND=noninteractive quietly apt-get install -y -qq --no-install-recommends $packages || return 1
  for program in "$@"; do command -v "$program" >/dev/null || return 1; done
}

# Returns the highest level that this machine supports. The server decides itself which level it runs.
level_here() {
  local flags
  flags=" $(grep -m 1 '^flags' /proc/cpuinfo 2>/dev/null) "
  case "$flags" in
    *" avx512_vbmi2 "*) echo v4 ;;
    *" avx2 "*) echo v3 ;;
    *) echo v2 ;;
  esac
}

# native PLATFORM FILE OUT [property...]: builds one executable as FILE in OUT, and keeps the intermediate files for the next build.
native() {
  local platform=$1 file=$2 out=$3 built; shift 3
  built=$root/backend/src/Server/obj/native/$platform/$file
  rm -rf "$built/out/wwwroot"
  quietly dotnet publish "$project" -c Release -r "$platform" -p:PublishAot=true -p:StripSymbols=true -p:NativeDebugSymbols=false \
    -p:LinkerFlavor=lld -p:NativeIntermediateOutputPath="$built/obj/" -p:NativeOutputPath="$built/bin/" -o "$built/out" "$@" || return 1
  mkdir -p "$out"
  # Replaces the file instead of overwriting it, because a running server keeps the file that it was started from.
  cp "$built/out/Sluice.Server" "$out/.new" && mv "$out/.new" "$out/$file" && cp -u "$built"/out/*.so "$out/" || return 1
  rm -rf "$out/wwwroot"
  [ ! -e "$built/out/wwwroot" ] || cp -r "$built/out/wwwroot" "$out/wwwroot"
}

# Without Node.js the server is built without the UI, or with an earlier build of it.
"$root/tools/frontend.sh" || [ $? = 3 ] || exit 1

if [ "$form" = aot ]; then
  need "clang lld zlib1g-dev" clang ld.lld || fail "installing clang and lld" 3
  here=$(platform) || fail "asking the SDK for its platform"
  quietly dotnet restore "$project" -p:RuntimeIdentifier="$here" -p:PublishAot=true || fail "restoring the packages of the compiler" 3
  # Other processors have one build, which checks the CPU for optional instructions.
  case "$here" in
    *-x64) levels=${LEVELS:-v2 v3 v4 arm64} ;;
    *) levels=v1 ;;
  esac
  for level in $levels; do
    [ "$level" != here ] || level=$(level_here)
    case "$level" in
      v1) native "$here" Sluice.Server "$root/artifacts/server-aot" "$@" || fail "the build" ;;
      v2)
        # The other levels must belong to the same build, or be absent.
        rm -f "$root"/artifacts/server-aot/Sluice.Server.v?
        native "$here" Sluice.Server "$root/artifacts/server-aot" -p:IlcInstructionSet=x86-64-v2 "$@" || fail "the build"
        ;;
      v3 | v4)
        native "$here" "Sluice.Server.$level" "$root/artifacts/server-aot" "-p:IlcInstructionSet=x86-64-$level" "$@" || fail "the build for x86-64-$level"
        # A single level is started directly.
        [ "$levels" != here ] || {
          mv "$root/artifacts/server-aot/Sluice.Server.$level" "$root/artifacts/server-aot/Sluice.Server"
          rm -f "$root"/artifacts/server-aot/Sluice.Server.v?
        } ;;
      arm64)
        if need "gcc-aarch64-linux-gnu libc6-dev-arm64-cross binutils-aarch64-linux-gnu" aarch64-linux-gnu-gcc; then
          native "${here%-x64}-arm64" Sluice.Server "$root/artifacts/server-aot-arm64" "$@" || fail "the build for arm64"
        else
          echo "publish.sh: without the build for arm64, because no cross compiler could be installed" >&2
        fi ;;
      *) echo "publish.sh: no such level: $level" >&2; exit 2 ;;
    esac
  done
  exit 0
fi

# File names contain hashes, so files of earlier builds would stay. Only these are deleted, because a running server serves the others.
delete_stale_pages() {
  local file page
  [ -e "$out/wwwroot" ] || return 0
  (cd "$out/wwwroot" && find . -type f) | while read -r file; do
    page=${file%.br} page=${page%.gz}
    [ -e "src/Server/wwwroot/$page" ] || rm -f "$out/wwwroot/$file"
  done
}

delete_stale_pages
quietly dotnet restore "$project" --locked-mode || fail "restoring the packages"
ahead "$@" && exit 0
quietly dotnet publish "$project" -c Release --no-self-contained -o "$out" "$@" || fail "the build"
echo "publish.sh: without code compiled ahead, because its packages could not be had; the first start takes longer" >&2
