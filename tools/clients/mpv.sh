# mpv without a window: starts, and seeks to the positions of a script.

run_mpv() {
  has mpv || { skip mpv "it is not installed"; return; }
  local version; version=$(mpv --version | sed -n '1s/^mpv \([0-9.]*\).*/\1/p')
  try mpv "$version" "start and 20 seeks, mkv" mpv_seek "$(address film.mkv)"
  has openssl || { skip mpv "openssl is not installed, which signs a link"; return; }
  try mpv "$version" "start and 20 seeks, mp4 over a signed link" mpv_seek "$(signed film.mp4)"
}

mpv_seek() {
  bounded mpv --no-config --vo=null --ao=null --no-input-terminal --hr-seek=yes --msg-level=all=warn --keep-open=always \
    --script="$here/seeks.lua" "$1" 2>&1 | tee "$work/mpv.log"
  # Any message that does not come from the script is an error.
  [ "$(grep -c '^\[seeks\] at ' "$work/mpv.log")" = 20 ] && ! grep -v -e '^\[seeks\] at ' -e '^\[seeks\] plays' "$work/mpv.log"
}
