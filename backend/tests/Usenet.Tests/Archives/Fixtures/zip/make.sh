#!/usr/bin/env bash
# Creates the zip archives in this folder with Info-ZIP (Debian: zip), 7-Zip (7zip) and Python. Only dates differ from run to run.
set -euo pipefail
export LC_ALL=C.UTF-8
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$here/../source.py" "$work"
cd "$work"
rm -f "$here"/*.z*
pack() { local name=$1; shift; zip -q -r "$@" "$here/$name" film.mkv film.nfo Subs empty.txt; }
seven() { local name=$1; shift; 7zz a -bso0 -bsp0 -tzip "$@" "$here/$name" film.mkv film.nfo Subs empty.txt; }

pack stored.zip -0
pack utf8.zip -0 -UN=UTF8
pack zip64.zip -0 -fz
pack deflate.zip
pack bzip2.zip -Z bzip2
pack encrypted.zip -0 -P secret
printf 'a comment with PK\x05\x06 in it' | pack comment.zip -0 -z
ln -s film.mkv link.mkv
zip -q -0 -y "$here/links.zip" film.mkv link.mkv
rm link.mkv

seven stored-7z.zip -mx0
seven aes.zip -mx0 -mem=AES256 -psecret
seven deflate64.zip -mm=deflate64
seven lzma.zipx -mm=lzma
seven ppmd.zipx -mm=ppmd
seven xz.zipx -mm=xz
seven mixed.zip -mx0
zip -q "$here/mixed.zip" Subs/film.srt

# An archive with data before it, and one whose offsets are adjusted for that data.
(head -c 777 /dev/zero | tr '\0' 'x'; cat "$here/stored.zip") >"$here/prefix.zip"
cp "$here/prefix.zip" "$here/prefix-adjusted.zip"
zip -q -A "$here/prefix-adjusted.zip"

# Three disks of the smallest size that a Debian program writes.
python3 "$here/../source.py" "$work" 150001
zip -q -0 -s 64k "$here/split.zip" long.mkv film.mkv

python3 - "$here" <<'PY'
import sys, zipfile
here = sys.argv[1]
class Pipe:
    """Not seekable, so zipfile writes sizes after the data."""
    def __init__(self, path): self.file = open(path, "wb")
    def write(self, data): return self.file.write(data)
    def flush(self): self.file.flush()
for name, force in (("streamed.zip", False), ("streamed64.zip", True)):
    with zipfile.ZipFile(Pipe(f"{here}/{name}"), "w") as archive:
        for member in ("film.mkv", "film.nfo"):
            with archive.open(zipfile.ZipInfo(member), "w", force_zip64=force) as out:
                out.write(open(member, "rb").read())
with zipfile.ZipFile(f"{here}/cp437.zip", "w") as archive:
    member = zipfile.ZipInfo("xxx.mkv")
    archive.writestr(member, open("film.mkv", "rb").read())
data = open(f"{here}/cp437.zip", "rb").read().replace(b"xxx.mkv", b"\x81\x84\x94.mkv")
open(f"{here}/cp437.zip", "wb").write(data)
zipfile.ZipFile(f"{here}/empty.zip", "w").close()
PY
