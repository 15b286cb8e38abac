# curl: whole files, ranges, and a download that is interrupted fifty times.

run_curl() {
  has curl || { skip curl "it is not installed"; return; }
  local version; version=$(curl --version | sed -n '1s/^curl \([^ ]*\).*/\1/p')
  try curl "$version" "whole files" curl_whole
  try curl "$version" "40 ranges, the first, the last and suffixes" curl_ranges
  try curl "$version" "If-Range: a part of the same film, the whole of another" curl_if_range
  try curl "$version" "-C - after 50 interruptions" curl_continued
}

curl_get() { bounded curl -sS --fail -u "$user:$password" "$@"; }

curl_whole() { curl_get "$host/$folder/film.mp4" | equal_sum film.mp4 && curl_get "$host/$folder/film.mkv" | equal_sum film.mkv; }

curl_ranges() {
  local size offset
  size=$(stat -c %s "$work/film.mkv")
  for offset in 0 $(offsets 40 $((size - 300000))) $((size - 200001)); do
    curl_get -r "$offset-$((offset + 200000))" "$host/$folder/film.mkv" | cmp - <(part_of "$work/film.mkv" "$offset" 200001) || return
  done
  curl_get -r -1000 "$host/$folder/film.mkv" | cmp - <(tail -c 1000 "$work/film.mkv")
}

# Sends the If-Range with which curl and Sonarr resume a download: a range is valid only for the same version of the film.
curl_if_range() {
  local tag
  tag=$(curl_get -I "$host/$folder/film.mkv" | sed -n 's/^ETag: *\("[^"]*"\).*/\1/ip')
  [ -n "$tag" ] || { echo "no ETag"; return 1; }
  curl_get -r 1000- -H "If-Range: $tag" "$host/$folder/film.mkv" | cmp - <(tail -c +1001 "$work/film.mkv") || return
  curl_get -r 1000- -H 'If-Range: "another"' "$host/$folder/film.mkv" | equal_sum film.mkv
}

# curl aborts each transfer halfway, and the next one resumes at the end of the file. Its buffer is as large as the rate, and it reads
# a hundred buffers before it applies the rate, so fifty transfers together stay below two thirds of the film.
curl_continued() {
  local cuts=0 code
  rm -f "$work/continued"
  while [ $cuts -lt 50 ]; do
    curl_get -C - --limit-rate 4K --max-time 0.2 -o "$work/continued" "$host/$folder/film.mp4" 2>/dev/null
    code=$?
    case $code in
      28) cuts=$((cuts + 1)) ;;
      0) echo "whole after $cuts interruptions"; return 1 ;;
      *) echo "curl ended with $code after $cuts interruptions"; return 1 ;;
    esac
  done
  echo "$(stat -c %s "$work/continued") bytes after 50 interruptions"
  curl_get -C - -o "$work/continued" "$host/$folder/film.mp4" && equal_sum film.mp4 <"$work/continued"
}
