#!/usr/bin/env bash
# Runs arm64 programs on x86-64 in the emulator qemu-user, for tools/test.sh --all. It measures nothing.
#
#   tools/arm64.sh --set-up             installs the emulator and the Debian arm64 libraries into artifacts/arm64
#   tools/arm64.sh --server             unpacks the archive of tools/release.sh; artifacts/arm64/server then starts it, on EMULATED_CPU
#   tools/arm64.sh --tests              builds the tests of the engine for arm64
#   tools/arm64.sh CPU PROGRAM [ARG...]  runs a program on a CPU: raspberry-pi-4, or newest, which has every feature of the emulator
#
# --set-up exits with code 3 if something is unavailable.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$root/artifacts/arm64
libraries=$out/libraries
plain=$out/without-cryptography.so

# Installs arm64 libraries with package lists of their own, separate from the packages of this machine.
get_libraries() {
  local packages=$out/packages package options
  options=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State::lists=$packages/lists" -o "Dir::Cache=$packages" -o Dir::State::status=/dev/null)
  mkdir -p "$packages/lists/partial" "$packages/archives/partial" "$libraries"
  cd "$packages" && apt-get "${options[@]}" update && apt-get "${options[@]}" download libc6 libgcc-s1 libstdc++6 libicu72 libssl3 zlib1g || return
  for package in ./*.deb; do dpkg -x "$package" "$libraries" || return; done
}

# The emulated Cortex-A72 has cryptographic instructions such as PMULL, but a Raspberry Pi 4 lacks them. Programs ask the kernel for
# the available features, so this library changes the answer.
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

# Uses the archive instead of the build folder, because users get the archive.
unpack() {
  local archive
  archive=$(ls "$root"/artifacts/release/sluice-*-linux-arm64.tar.gz) || return
  rm -rf "$out/sluice" && mkdir -p "$out/sluice" && tar -xzf "$archive" -C "$out/sluice" --strip-components=1 --no-same-owner || return
  printf '#!/bin/sh\nexec "%s" "${EMULATED_CPU:-newest}" "%s" "$@"\n' "$root/tools/arm64.sh" "$out/sluice/sluice" >"$out/server"
  chmod +x "$out/server"
}

# A program that restarts itself must start the emulator again, which finds its options in these variables. The runtime must not write
# code through a second mapping of its page, because the emulator would keep the old translation.
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
    # References of the tests include server and mock builds for this machine, but the engine tests do not start them.
    cd "$root/backend" && dotnet publish tests/Usenet.Tests -c Release -r linux-arm64 --self-contained -o "$out/tests" -v quiet \
      -p:RunAnalyzers=false -p:ErrorOnDuplicatePublishOutputFiles=false ;;
  raspberry-pi-4) export QEMU_CPU=cortex-a72 QEMU_SET_ENV="LD_PRELOAD=$plain"; emulate "${@:2}" ;;
  newest) export QEMU_CPU=max; emulate "${@:2}" ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
