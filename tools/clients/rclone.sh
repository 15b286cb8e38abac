# rclone lists and copies; mount.sh mounts with it.

run_rclone() {
  has rclone || { skip rclone "it is not installed"; return; }
  rclone_remote
  local version; version=$(rclone_version)
  try rclone "$version" "lsjson, of a folder and of a file" rclone_lsjson
  try rclone "$version" "lsf -R of the tree" rclone_tree
  try rclone "$version" "file behind a link of /completed-symlinks" rclone_link
  try rclone "$version" "cat of whole files" rclone_cat
  try rclone "$version" "cat of 20 parts" rclone_parts
  try rclone "$version" "check against the film, byte by byte" rclone_check
  try rclone "$version" "copy of an NZB into the queue" rclone_put
}

rclone_version() { rclone version | sed -n '1s/^rclone v\([0-9.]*\).*/\1/p'; }

# Defines the remote by variables, so that the user's configuration is neither read nor written.
rclone_remote() {
  export RCLONE_CONFIG=$work/rclone.conf RCLONE_CONFIG_SLUICE_TYPE=webdav RCLONE_CONFIG_SLUICE_VENDOR=other \
    RCLONE_CONFIG_SLUICE_URL=$host RCLONE_CONFIG_SLUICE_USER=$user RCLONE_CACHE_DIR=$work/rclone-cache
  RCLONE_CONFIG_SLUICE_PASS=$(rclone obscure "$password")
  export RCLONE_CONFIG_SLUICE_PASS
  : >"$RCLONE_CONFIG"
}

# Prints names, sizes and kinds in rclone's own format, without the times.
rclone_lsjson() {
  local size
  diff <(bounded rclone lsjson "sluice:$folder" | sed 's/"ModTime":"20[^"]*",//') <(
    printf '[\n'
    for size in mkv mp4; do
      printf '{"Path":"film.%s","Name":"film.%s","Size":%s,"MimeType":"video/%s","IsDir":false}' \
        $size $size "$(stat -c %s "$work/film.$size")" "$([ $size = mkv ] && echo x-matroska || echo mp4)"
      [ $size = mkv ] && printf ',\n' || printf '\n'
    done
    printf ']\n') \
    && bounded rclone lsjson --stat "sluice:$folder/film.mkv" | grep -q "\"Size\": $(stat -c %s "$work/film.mkv"),"
}

# Excludes /.ids, because it has a million folders, one for each prefix of an id.
rclone_tree() {
  local tree name
  tree=$(bounded rclone lsf -R --exclude "/.ids/**" sluice:) || return
  for name in README .health nzbs/movies/ content/tv/ "$folder/film.mkv" completed-symlinks/.probe/probe.mkv.rclonelink "completed-symlinks/movies/$release/film.mkv.rclonelink"; do
    grep -qxF "$name" <<<"$tree" || { echo "no $name in:"; echo "$tree"; return 1; }
  done
}

# The text of a link is the target that rclone 1.70.3 shows with --links, below the mount folder of the importing programs.
rclone_link() {
  local target
  target=$(bounded rclone cat "sluice:completed-symlinks/movies/$release/film.mkv.rclonelink") || return
  echo "$target"
  [ "${target#/mnt/sluice/.ids/}" != "$target" ] && bounded rclone cat "sluice:${target#/mnt/sluice/}" | equal_sum film.mkv
}

rclone_cat() { bounded rclone cat "sluice:$folder/film.mp4" | equal_sum film.mp4 && bounded rclone cat "sluice:$folder/film.mkv" | equal_sum film.mkv; }

rclone_parts() {
  local offset
  for offset in $(offsets 20 "$(($(stat -c %s "$work/film.mkv") - 100000))"); do
    bounded rclone cat --offset "$offset" --count 100000 "sluice:$folder/film.mkv" | cmp - <(part_of "$work/film.mkv" "$offset" 100000) || return
  done
}

rclone_check() { bounded rclone check --download --one-way "sluice:$folder" "$work"; }

rclone_put() {
  bounded rclone copyto "$work/$release.nzb" sluice:nzbs/tv/by-rclone.nzb \
    && wait_for 60 bounded rclone lsf sluice:content/tv/by-rclone/film.mkv \
    && bounded rclone cat sluice:content/tv/by-rclone/film.mkv | equal_sum film.mkv
}
