# cadaver: a command-line WebDAV client, based on neon like gvfs and litmus.

run_cadaver() {
  has cadaver || { skip cadaver "it is not installed"; return; }
  local version; version=$(cadaver --version | sed -n '1s/^cadaver \([0-9.]*\).*/\1/p')
  try cadaver "$version" "ls, cd, get of whole files" cadaver_get
  try cadaver "$version" "propnames, refusals of put, mkcol and delete" cadaver_refused
  try cadaver "$version" "put under a temporary name, then move, into the queue" cadaver_put
}

# cadaver_run: runs commands from standard input, with the password in a file in its home folder.
cadaver_run() {
  mkdir -p "$work/cadaver"
  printf 'machine 127.0.0.1\nlogin %s\npassword %s\n' "$user" "$password" >"$work/cadaver/.netrc"
  chmod 600 "$work/cadaver/.netrc"
  (cd "$work/cadaver" && HOME=$work/cadaver bounded cadaver "$host/")
}

cadaver_get() {
  rm -f "$work"/cadaver/film.*
  printf '%s\n' "ls $folder" "cd $folder" "get film.mp4" "get film.mkv" quit | cadaver_run | tee "$work/cadaver.out"
  grep -q "film.mkv *$(stat -c %s "$work/film.mkv")" "$work/cadaver.out" \
    && equal_sum film.mp4 <"$work/cadaver/film.mp4" && equal_sum film.mkv <"$work/cadaver/film.mkv"
}

cadaver_refused() {
  printf '%s\n' "propnames $folder/film.mkv" "put $work/$release.nzb $folder/new.mkv" "mkcol content/new" "delete $folder/film.mkv" quit \
    | cadaver_run | tee "$work/cadaver.out"
  grep -q getcontentlength "$work/cadaver.out" && [ "$(grep -c '403 Forbidden' "$work/cadaver.out")" = 3 ]
}

cadaver_put() {
  printf '%s\n' "put $work/$release.nzb nzbs/tv/by-cadaver.nzb.part" "move nzbs/tv/by-cadaver.nzb.part nzbs/tv/by-cadaver.nzb" quit | cadaver_run
  wait_for 60 curl_get -I "$host/content/tv/by-cadaver/film.mkv" && curl_get "$host/content/tv/by-cadaver/film.mkv" | equal_sum film.mkv
}
