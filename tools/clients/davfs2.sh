# davfs2: a kernel mount that caches whole files and locks files for writing.

run_davfs2() {
  has mount.davfs || { skip davfs2 "it is not installed"; return; }
  [ -c /dev/fuse ] || { skip davfs2 "there is no /dev/fuse"; return; }
  [ "$(id -u)" = 0 ] || { skip davfs2 "only root may mount with it"; return; }
  local version; version=$(mount.davfs --version | sed -n '1s/^davfs2 \([0-9.]*\).*/\1/p')
  try davfs2 "$version" "buf_size 64: list, 20 seeks, read whole files" davfs2_with "" ro read_mounted
  try davfs2 "$version" "use_locks 1: an NZB copied into the queue" davfs2_with nzbs/tv/ rw davfs2_put
}

# davfs2_with PATH OPTION COMMAND: mounts the path and runs the command on the mount.
davfs2_with() {
  local at=$work/davfs2 code
  mkdir -p "$at" "$work/davfs2-cache"
  printf '%s %s %s\n' "$host/$1" "$user" "$password" >"$work/davfs2.secrets"
  chmod 600 "$work/davfs2.secrets"
  # Once mounted, davfs2 runs as its own user.
  chown root:davfs2 "$work/davfs2-cache"
  chmod 775 "$work/davfs2-cache"
  printf '%s\n' "buf_size 64" "use_locks 1" "ask_auth 0" "delay_upload 0" \
    "secrets $work/davfs2.secrets" "cache_dir $work/davfs2-cache" >"$work/davfs2.conf"
  mounted+=("$at")
  mount.davfs "$host/$1" "$at" -o "$2,conf=$work/davfs2.conf" || return
  "$3" "$at"
  code=$?
  # umount returns once everything is uploaded and unlocked.
  umount "$at" || return
  return $code
}

davfs2_put() {
  cp "$work/$release.nzb" "$1/by-davfs2.nzb" \
    && wait_for 60 curl_get -I "$host/content/tv/by-davfs2/film.mkv" && curl_get "$host/content/tv/by-davfs2/film.mkv" | equal_sum film.mkv
}
