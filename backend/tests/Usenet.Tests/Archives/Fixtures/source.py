"""Writes the files for the archives of these fixtures. FixtureArchive.Source in the tests computes the same bytes for comparison."""

import pathlib
import sys


def noise(length):
    return bytes(((i + length) * 2654435761 % 2**32) >> 24 for i in range(length))


def text(length):
    line = b"00:00:01,000 --> 00:00:02,000\nA line that packs well.\n"
    return (line * (length // len(line) + 1))[:length]


target = pathlib.Path(sys.argv[1])
files = {
    "film.mkv": noise(5003),
    "film.nfo": noise(37),
    "Subs/film.srt": text(1009),
    "Subs/\u00fcber.srt": text(211),
    "empty.txt": b"",
}
if len(sys.argv) > 2:
    files = {"long.mkv": noise(int(sys.argv[2]))}
for name, content in files.items():
    path = target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
