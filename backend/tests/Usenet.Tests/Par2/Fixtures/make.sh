#!/bin/sh
# Creates the PAR2 sets in this folder with par2cmdline 0.8.1 (Debian: par2). The tests compute the contents again.
# posted-*.par2 are the indexes of two real posts, fetched from a news server and not created here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

seq 1 6000 > film.mkv
seq 1 100 > film.en.srt
printf 'made by hand\n' > 'Zoë – notes.nfo'
mkdir -p 'Season 1'
seq 1 9000 > 'Season 1/episode.mkv'
head -c 20000 /dev/zero > zero-1.bin
head -c 20000 /dev/zero > zero-2.bin

par2 create -q -q -s4096 -c6 -n2 set.par2 film.mkv film.en.srt 'Zoë – notes.nfo'
par2 create -q -q -R -B"$work" -s4096 -c1 -n1 tree.par2 "$work/film.mkv" "$work/Season 1"
par2 create -q -q -s4096 -c1 -n1 zeros.par2 zero-1.bin zero-2.bin
cp set.par2 set.vol*.par2 tree.par2 zeros.par2 "$here"
