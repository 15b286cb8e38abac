#!/bin/sh
# Creates the archives in this folder with the real rar: one tar per set, with all its volumes. Only rar up to version 6 writes RAR 4.
# Usage: RAR6=/path/to/rar-6.23 RAR7=/path/to/rar-7.01 ./make.sh   (Debian: rar in non-free of bullseye and bookworm)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
rar6=${RAR6:-rar}
rar7=${RAR7:-rar}

# make_file NAME BYTES SEED MAGIC: writes the magic bytes of a format, followed by incompressible noise.
make_file() {
  mkdir -p "$(dirname "$1")"
  { printf "$4"; openssl enc -aes-128-ctr -K "$3$3$3$3$3$3$3$3" -iv 00000000000000000000000000000000 -in /dev/zero 2>/dev/null | head -c "$2"; } > "$1"
  touch -d '2024-05-06 07:08:10 UTC' "$1"
}

matroska='\032\105\337\243'
make_file film.mkv 43210 1111 "$matroska"
make_file season/one.mkv 21003 2222 "$matroska"
make_file season/two.mkv 30001 3333 "$matroska"
make_file season/three.mkv 9005 4444 "$matroska"
make_file "season/vier – Ü.mkv" 1234 5555 "$matroska"
make_file long.mkv 150000 6666 "$matroska"
mkdir -p tree/folder/empty
make_file tree/folder/film.mkv 2500 7777 "$matroska"
make_file tree/notes.txt 300 8888 'text '
: > tree/nothing.txt
ln -s folder/film.mkv tree/link.mkv
ln tree/folder/film.mkv tree/same.mkv
cp -p tree/notes.txt tree/folder/notes-again.txt
yes 'a line that is easily packed' | head -n 400 > easy.srt
touch -d '2024-05-06 07:08:10 UTC' easy.srt
echo 'A comment.' > comment

# pack SET PROGRAM SWITCHES... FILES...: runs rar into a separate folder and keeps the volumes as a tar.
pack() {
  set_name=$1
  shift
  mkdir -p "out/$set_name"
  program=$1
  shift
  "$program" a -idq -m0 -ep1 "out/$set_name/set.rar" "$@" < /dev/null
  tar --sort=name --mtime='2024-01-01 UTC' --owner=0 --group=0 --numeric-owner -cf "$here/$set_name.tar" -C "out/$set_name" .
}

pack rar4 "$rar6" -ma4 -v10k film.mkv
pack rar4-old-names "$rar6" -ma4 -v10k -vn film.mkv
pack rar4-p "$rar6" -ma4 -v10k -psecret film.mkv
pack rar4-hp "$rar6" -ma4 -v10k -hpsecret film.mkv
pack rar4-hp-long "$rar6" -ma4 -hp0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ easy.srt
pack rar4-m3 "$rar6" -ma4 -v3k -m3 long.mkv easy.srt -x'long.mkv'
pack rar4-season "$rar6" -ma4 -v10k -s season
pack rar4-tree "$rar6" -ma4 -r -ol -oh -rr10p -zcomment tree

pack rar5 "$rar7" -v10k film.mkv
pack rar5-p "$rar7" -v10k -psecret film.mkv
pack rar5-hp "$rar7" -v10k -hpsecret film.mkv
pack rar5-p-blake "$rar7" -v10k -psecret -htb film.mkv
pack rar5-m3 "$rar7" -m3 easy.srt
pack rar5-season "$rar7" -v10k -s -qo+ season
pack rar5-season-hp "$rar7" -v10k -hpsecret season
pack rar5-tree "$rar7" -r -ol -oh -oi:1 -rr10p -qo+ -k -zcomment tree
pack rar5-rr "$rar7" -v10k -rr5p film.mkv
pack rar5-130-volumes "$rar7" -v1100b long.mkv
pack rar5-130-volumes-hp "$rar7" -v1200b -hpsecret long.mkv

sha256sum film.mkv easy.srt long.mkv season/* tree/folder/*.* tree/*.* 2> /dev/null | sort -k 2 > "$here/SHA256SUMS"
