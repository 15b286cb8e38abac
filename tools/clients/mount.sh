# rclone mount: the usual setup for media servers.

run_mount() {
  has rclone || { skip mount "rclone is not installed"; return; }
  has fusermount3 || { skip mount "fuse3 is not installed"; return; }
  [ -c /dev/fuse ] || { skip mount "there is no /dev/fuse"; return; }
  rclone_remote
  local mode
  for mode in off full; do
    try mount "$(rclone_version)" "rclone --vfs-cache-mode $mode: list, 20 seeks, read whole files" mount_with "$mode"
  done
}

mount_with() {
  local at=$work/mount-$1 code
  mkdir -p "$at"
  mounted+=("$at")
  # The options that docs/guides/rclone.md recommends for players.
  rclone mount sluice: "$at" --read-only --dir-cache-time 10s --vfs-cache-mode "$1" >"$work/mount.log" 2>&1 &
  started+=($!)
  wait_for 20 mountpoint -q "$at" || { cat "$work/mount.log"; return 1; }
  read_mounted "$at"
  code=$?
  unmount "$at"
  [ $code = 0 ] || tail -n 5 "$work/mount.log"
  return $code
}

# read_mounted ROOT: reads the release through the kernel's file system.
read_mounted() {
  local film=$1/$folder/film.mkv offset
  [ "$(bounded ls "$1/$folder")" = "$(printf 'film.mkv\nfilm.mp4')" ] || { ls -la "$1/$folder"; return 1; }
  [ "$(bounded cat "$1/.health")" = ok ] || return
  [ "$(stat -c %s "$film")" = "$(stat -c %s "$work/film.mkv")" ] || { stat "$film"; return 1; }
  for offset in $(offsets 20 "$(($(stat -c %s "$work/film.mkv") - 100000))"); do
    bounded dd if="$film" iflag=skip_bytes,count_bytes skip="$offset" count=100000 bs=64k status=none \
      | cmp - <(part_of "$work/film.mkv" "$offset" 100000) || return
  done
  equal_sum film.mkv < <(bounded cat "$film") && equal_sum film.mp4 < <(bounded cat "$1/$folder/film.mp4")
}
