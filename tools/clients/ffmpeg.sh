# ffmpeg, whose reader is part of Jellyfin, Plex and Kodi: decodes the film and compares the checksums of the frames.

run_ffmpeg() {
  local version; version=$(ffmpeg -version | sed -n '1s/^ffmpeg version \([0-9.]*\).*/\1/p')
  try ffmpeg "$version" "decode of the whole film, picture and sound, both containers" ffmpeg_whole
  try ffmpeg "$version" "20 random seeks, frame by frame the same" ffmpeg_seeks
}

# frames INPUT SECOND COUNT: checksums of decoded frames; any message of ffmpeg is a failure.
frames() {
  bounded ffmpeg -v error -xerror -nostdin -ss "$2" -i "$1" -map 0:v -frames:v "$3" -f framemd5 - 2>"$work/ffmpeg.log" && [ ! -s "$work/ffmpeg.log" ] \
    || { cat "$work/ffmpeg.log" >&2; return 1; }
}

ffmpeg_whole() {
  local name
  for name in film.mp4 film.mkv; do
    bounded ffmpeg -v error -xerror -nostdin -i "$(address $name)" -map 0 -f framemd5 - >"$work/served.frames" 2>"$work/ffmpeg.log" \
      && [ ! -s "$work/ffmpeg.log" ] || { cat "$work/ffmpeg.log"; return 1; }
    bounded ffmpeg -v error -xerror -nostdin -i "$work/$name" -map 0 -f framemd5 - >"$work/local.frames" || return
    cmp "$work/served.frames" "$work/local.frames" || return
    [ "$(grep -c '^0,' "$work/served.frames")" = 1500 ] || return
  done
}

ffmpeg_seeks() {
  local second
  for second in $(offsets 20 59); do
    cmp <(frames "$(address film.mkv)" "$second.48" 5) <(frames "$work/film.mkv" "$second.48" 5) || return
  done
}
