#!/usr/bin/env bash
# Creates the 7z archives in this folder with 7-Zip (Debian: 7zip) and bsdtar (Debian: libarchive-tools). Only keys and dates differ from run to run.
set -euo pipefail
export LC_ALL=C.UTF-8
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$here/../source.py" "$work"
cd "$work"
rm -f "$here"/*.7z "$here"/*.7z.0*
pack() { local name=$1; shift; 7zz a -bso0 -bsp0 "$@" "$here/$name" film.mkv film.nfo Subs empty.txt; }

pack plain-header.7z -mx0 -mhc=off
pack packed-header.7z -mx0
pack hidden.7z -mx0 -mhe=on -psecret
pack hidden-plain.7z -mx0 -mhe=on -mhc=off -psecret
pack encrypted.7z -mx0 -psecret
pack encrypted-lzma2.7z -mx5 -psecret
pack lzma.7z -m0=lzma
pack lzma2.7z -m0=lzma2
pack bcj.7z -m0=bcj -m1=lzma
pack bcj-copy.7z -m0=bcj -m1=copy
pack bcj2.7z -m0=bcj2 -m1=lzma:d=1m -m2=lzma:d=1m -m3=lzma:d=1m -mb0:1 -mb0s1:2 -mb0s2:3
pack delta.7z -m0=delta:4 -m1=copy
pack ppmd.7z -m0=ppmd
pack deflate.7z -m0=deflate
pack bzip2.7z -m0=bzip2
pack split.7z -mx0 -v2500b

# A stored film with compressed companions.
7zz a -bso0 -bsp0 -mx0 "$here/mixed.7z" film.mkv film.nfo
7zz a -bso0 -bsp0 -mx9 "$here/mixed.7z" Subs

# Links, and anti-items, which mark files that an update deletes.
ln -s film.mkv link.mkv
7zz a -bso0 -bsp0 -mx0 -snl "$here/links.7z" film.mkv link.mkv
mkdir tree
cp -r film.mkv film.nfo Subs tree
cd tree
7zz a -bso0 -bsp0 ../before.7z .
rm -r film.nfo Subs
7zz u -bso0 -bsp0 -mx0 ../before.7z -u- "-up0q3r2x2y2z0w2!$here/anti.7z" .
cd ..
7zz d -bso0 -bsp0 before.7z '*' -r
mv before.7z "$here/empty.7z"

# An archive of another program.
bsdtar --format 7zip --options 7zip:compression=store -cf "$here/bsdtar.7z" film.nfo film.mkv Subs empty.txt

# Enough names for a header of several packed chunks.
mkdir many
for i in $(seq 1 600); do printf '%s' "$i" >"many/episode number $i of a season that does not end.txt"; done
7zz a -bso0 -bsp0 -mx0 -mtm- -mtc- -mta- "$here/many.7z" many
