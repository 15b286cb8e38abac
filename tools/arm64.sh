#!/usr/bin/env bash
# Runs programs for arm64 on x86-64, in the emulator qemu-user. For tools/test.sh --all. Nothing is measured there.
#
#   tools/arm64.sh --set-up             gets the emulator and the Debian libraries of that system, into artifacts/arm64
#   tools/arm64.sh --server             unpacks the archive of tools/release.sh; artifacts/arm64/server then starts it, on EMULATED_CPU
#   tools/arm64.sh --tests              builds the tests of the engine for arm64
#   tools/arm64.sh CPU PROGRAM [ARG...]  runs a program on a CPU: raspberry-pi-4, or newest, which has all that the emulator knows
#
# --set-up ends with code 3 if something cannot be had.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$root/artifacts/arm64
libraries=$out/libraries
plain=$out/without-cryptography.so

# Libraries of another architecture than that of this machine's packages, with lists of their own.
get_libraries() {
  local packages=$out/packages package options
  options=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State::lists=$packages/lists" -o "Dir::Cache=$packages" -o Dir::State::status=/dev/null)
  mkdir -p "$packages/lists/partial" "$packages/archives/partial" "$libraries"
  cd "$packages" && apt-get "${options[@]}" update && apt-get "${options[@]}" download libc6 libgcc-s1 libstdc++6 libicu72 libssl3 zlib1g || return
  for package in ./*.deb; do dpkg -x "$package" "$libraries" || return; done
}

# The Cortex-A72 of the emulator has cryptographic instructions, PMULL among them; that of a Raspberry Pi 4 lacks them. A program learns
# from the kernel what it may use, so the answer is changed on its way.
build_plain() {
  aarch64-linux-gnu-gcc -shared -fPIC -O1 -x c -o "$plain" - <<'CODE'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/auxv.h>

unsigned long getauxval(unsigned long type) {
  unsigned long (*next)(unsigned long) = (unsigned long (*)(unsigned long))dlsym(RTLD_NEXT, "getauxval");
  unsigned long value = next(type);
  return type == AT_HWCAP ? value & ~(unsigned long)(HWCAP_AES | HWCAP_PMULL | HWCAP_SHA1 | HWCAP_SHA2) : value;
}
CODE
}

set_up() {
  command -v qemu-aarch64 >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends qemu-user || return
  [ -e "$libraries/lib/aarch64-linux-gnu/libc.so.6" ] || (get_libraries) || return
  build_plain
}

# Always the archive, never the folder of the build, because people get the archive.
unpack() {
  local archive
  archive=$(ls "$root"/artifacts/release/sluice-*-linux-arm64.tar.gz) || return
  rm -rf "$out/sluice" && mkdir -p "$out/sluice" && tar -xzf "$archive" -C "$out/sluice" --strip-components=1 --no-same-owner || return
  printf '#!/bin/sh\nexec "%s" "${EMULATED_CPU:-newest}" "%s" "$@"\n' "$root/tools/arm64.sh" "$out/sluice/sluice" >"$out/server"
  chmod +x "$out/server"
}

# A program that starts itself again has to start the emulator, which finds the rest in these variables. The runtime must not write code
# through a second mapping of its page, because the emulator would keep what it translated before.
emulate() {
  export QEMU_LD_PREFIX=$libraries SLUICE_TEST_EMULATOR=qemu-aarch64 DOTNET_EnableWriteXorExecute=0
  exec qemu-aarch64 "$@"
}

case "${1:-}" in
  --set-up)
    mkdir -p "$out"
    set_up >"$out/log" 2>&1 || { cat "$out/log" >&2; exit 3; } ;;
  --server) unpack ;;
  --tests)
    # Libraries of the tests bring server and mock as they are built for this machine, which the tests of the engine do not start.
    cd "$root/backend" && dotnet publish tests/Usenet.Tests -c Release -r linux-arm64 --self-contained -o "$out/tests" -v quiet \
      -p:RunAnalyzers=false -p:ErrorOnDuplicatePublishOutputFiles=false ;;
  raspberry-pi-4) export QEMU_CPU=cortex-a72 QEMU_SET_ENV="LD_PRELOAD=$plain"; emulate "${@:2}" ;;
  newest) export QEMU_CPU=max; emulate "${@:2}" ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
