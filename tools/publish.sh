#!/usr/bin/env bash
# Builds the server as it is to be run. For tools/run.sh, tools/measure.sh and tools/test.sh.
#
#   tools/publish.sh [property for the build...]        into artifacts/server: with the runtime of the machine, and code compiled
#                                                       ahead for it, so that neither the start nor the first film waits for the compiler
#   tools/publish.sh --aot [property...]                into artifacts/server-aot: the form that ships, compiled ahead as a whole,
#                                                       which needs no runtime (native AOT)
#   tools/publish.sh --failpoints [property...]         into artifacts/server-failpoints: the ordinary form with the steps at which
#                                                       tests end the process; no other build has them
#
# The web UI is built before, where Node.js is (tools/frontend.sh), and lies in wwwroot beside the server, with compressed copies.
#
# A property is for example -p:Configuration=Debug. --aot builds for every level of instructions that an x86-64 server is shipped
# for, and for arm64 into artifacts/server-aot-arm64; LEVELS="v2 v4" names other ones (v2, which runs everywhere and hands over to
# the others, v3, v4, arm64, and "here" for the highest of this machine, which alone stands for itself).
#
# Quiet unless it fails. What --aot needs is installed from Debian's packages where that can be done: clang and lld; for arm64 a cross
# compiler too. Where these or the packages for compiling ahead cannot be had, --aot ends with code 3, or leaves out arm64 with one
# line, and the ordinary form is built without code compiled ahead.
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

# Installs Debian packages where that needs no question; true when each program is there afterwards.
need() {
  local packages=$1 program missing=no; shift
  for program in "$@"; do command -v "$program" >/dev/null || missing=yes; done
  [ "$missing" = yes ] || return 0
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
  # shellcheck disable=SC2086
  quietly apt-get update -qq && DEBIAN_FRONTEND=noninteractive quietly apt-get install -y -qq --no-install-recommends $packages || return 1
  for program in "$@"; do command -v "$program" >/dev/null || return 1; done
}

# The highest level whose instructions this machine has; what it runs with is the server's own decision.
level_here() {
  local flags
  flags=" $(grep -m 1 '^flags' /proc/cpuinfo 2>/dev/null) "
  case "$flags" in
    *" avx512_vbmi2 "*) echo v4 ;;
    *" avx2 "*) echo v3 ;;
    *) echo v2 ;;
  esac
}

# native PLATFORM FILE OUT [property...]: one build, its executable as FILE in OUT. Each keeps what it made for the next time.
native() {
  local platform=$1 file=$2 out=$3 built; shift 3
  built=$root/backend/src/Server/obj/native/$platform/$file
  rm -rf "$built/out/wwwroot"
  quietly dotnet publish "$project" -c Release -r "$platform" -p:PublishAot=true -p:StripSymbols=true -p:NativeDebugSymbols=false \
    -p:LinkerFlavor=lld -p:NativeIntermediateOutputPath="$built/obj/" -p:NativeOutputPath="$built/bin/" -o "$built/out" "$@" || return 1
  mkdir -p "$out"
  # A server that runs from there keeps the file that it was started from.
  cp "$built/out/Sluice.Server" "$out/.new" && mv "$out/.new" "$out/$file" && cp -u "$built"/out/*.so "$out/" || return 1
  rm -rf "$out/wwwroot"
  [ ! -e "$built/out/wwwroot" ] || cp -r "$built/out/wwwroot" "$out/wwwroot"
}

# Without Node.js the server is built without the UI, or with what was built before.
"$root/tools/frontend.sh" || [ $? = 3 ] || exit 1

if [ "$form" = aot ]; then
  need "clang lld zlib1g-dev" clang ld.lld || fail "installing clang and lld" 3
  here=$(platform) || fail "asking the SDK for its platform"
  quietly dotnet restore "$project" -p:RuntimeIdentifier="$here" -p:PublishAot=true || fail "restoring the packages of the compiler" 3
  # For other processors there is one build, which asks the CPU for the instructions that not all of them have.
  case "$here" in
    *-x64) levels=${LEVELS:-v2 v3 v4 arm64} ;;
    *) levels=v1 ;;
  esac
  for level in $levels; do
    [ "$level" != here ] || level=$(level_here)
    case "$level" in
      v1) native "$here" Sluice.Server "$root/artifacts/server-aot" "$@" || fail "the build" ;;
      v2)
        # The others are of one build with it, or not there.
        rm -f "$root"/artifacts/server-aot/Sluice.Server.v?
        native "$here" Sluice.Server "$root/artifacts/server-aot" -p:IlcInstructionSet=x86-64-v2 "$@" || fail "the build"
        ;;
      v3 | v4)
        native "$here" "Sluice.Server.$level" "$root/artifacts/server-aot" "-p:IlcInstructionSet=x86-64-$level" "$@" || fail "the build for x86-64-$level"
        # The only one is the one that is started.
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

# Names of files have the hash of their bytes, so that those of earlier builds would stay.
rm -rf "$out/wwwroot"
quietly dotnet restore "$project" --locked-mode || fail "restoring the packages"
ahead "$@" && exit 0
quietly dotnet publish "$project" -c Release --no-self-contained -o "$out" "$@" || fail "the build"
echo "publish.sh: without code compiled ahead, because its packages could not be had; the first start takes longer" >&2
