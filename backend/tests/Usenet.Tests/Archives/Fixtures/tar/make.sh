#!/usr/bin/env bash
# Creates the tar archives in this folder with GNU tar and Python. Only dates differ from run to run.
set -euo pipefail
export LC_ALL=C.UTF-8
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$here/../source.py" "$work"
cd "$work"
rm -f "$here"/*.tar
pack() { local name=$1; shift; tar -b 1 --owner=0 --group=0 "$@" -cf "$here/$name"; }
deep=$(printf 'season %.0s' $(seq 1 20))
half=$(printf 'a folder of a show, %.0s' $(seq 1 4))
mkdir -p "$half/$half"
printf 'deep' >"$half/$half/film.nfo"
mkdir "$deep"
cp film.nfo "$deep/$deep.nfo"
ln -s film.mkv link.mkv
ln film.mkv hard.mkv
mkfifo pipe

pack ustar.tar --format=ustar film.mkv film.nfo Subs empty.txt link.mkv hard.mkv pipe
pack prefix.tar --format=ustar film.mkv "$half/$half/film.nfo"
pack v7.tar --format=v7 film.mkv film.nfo
pack gnu.tar --format=gnu film.mkv film.nfo Subs empty.txt link.mkv hard.mkv pipe
pack gnu-long.tar --format=gnu film.mkv "$deep" film.nfo
pack pax.tar --format=posix film.mkv film.nfo Subs empty.txt link.mkv hard.mkv pipe
pack pax-long.tar --format=posix film.mkv "$deep" film.nfo
pack label.tar --format=gnu -V label film.mkv
truncate -s 100000 holes.bin
printf 'x' >>holes.bin
pack gnu-sparse.tar --format=gnu -S film.mkv holes.bin
pack pax-sparse-0.0.tar --format=posix --sparse-version=0.0 -S film.mkv holes.bin
pack pax-sparse-0.1.tar --format=posix --sparse-version=0.1 -S film.mkv holes.bin
pack pax-sparse-1.0.tar --format=posix --sparse-version=1.0 -S film.mkv holes.bin

python3 - "$here" <<'PY'
import sys, tarfile
here = sys.argv[1]
with tarfile.open(f"{here}/pax-global.tar", "w", format=tarfile.PAX_FORMAT, pax_headers={"comment": "for all of them"}) as archive:
    for name in ("film.mkv", "film.nfo"):
        member = archive.gettarinfo(name)
        member.pax_headers = {"path": f"Renamed/\u00fcber {name}"}
        archive.addfile(member, open(name, "rb"))
PY
