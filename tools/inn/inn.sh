#!/usr/bin/env bash
# A real news server on loopback for the end-to-end tests: INN 2.7 from the Debian packages, unpacked without
# installing, and a real poster (Nyuu).
#
#   tools/inn/inn.sh start DIR             sets up and starts INN below DIR, an empty or absent folder with a short
#                                          path that the user "news" may enter; prints the port
#   tools/inn/inn.sh post DIR NZB FILE...  posts the files and writes the NZB
#   tools/inn/inn.sh repost DIR ARTICLE... posts complete articles unchanged, with headers and encoded body
#   tools/inn/inn.sh stop DIR              stops the server by its process id; DIR stays for inspection
#
# Exits with code 77 and one line on stderr if this machine cannot run it (no Debian packages, no npm). Packages and
# the poster are kept in folders that git ignores, so the second start needs no network.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=$here/../../artifacts/inn
group=alt.binaries.test

cannot() { echo "inn: $1" >&2; exit 77; }
fail() { echo "inn: $1" >&2; exit 1; }

# INN runs only as the user news.
as_news() {
  if [ "$(id -un)" = news ]; then "$@"; else setpriv --reuid=news --regid=news --clear-groups -- "$@"; fi
}

# Makes INN find its libraries and settings below $1 instead of in /usr and /etc.
inn() {
  local dir=$1 libraries; shift
  libraries=$(find "$dir/root/usr/lib" -maxdepth 1 -type d -name '*-linux-gnu*' -printf '%p:')
  as_news env LD_LIBRARY_PATH="$dir/root/usr/lib/news:$libraries" INNCONF="$dir/etc/inn.conf" \
    PATH="$dir/root/usr/lib/news/bin:$PATH" "$@"
}

fetch_packages() {
  mkdir -p "$cache"
  local package
  for package in inn2 inn2-inews libcanlock3; do
    compgen -G "$cache/${package}_*.deb" >/dev/null && continue
    (cd "$cache" && apt-get download -qq "$package" >/dev/null 2>&1) \
      || cannot "the Debian package $package cannot be downloaded here"
  done
}

fetch_poster() {
  command -v npm >/dev/null || cannot "npm is not installed, so there is no poster"
  [ -x "$here/node_modules/.bin/nyuu" ] && return
  (cd "$here" && npm ci --omit=optional >"$cache/npm.log" 2>&1) \
    || cannot "npm could not install the poster: $(grep -m 1 -i 'error' "$cache/npm.log" || echo 'see npm.log')"
}

free_port() {
  local port
  for _ in $(seq 100); do
    port=$((20000 + RANDOM % 12000))
    (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
  fail "no free port found"
}

configure() {
  local dir=$1 port=$2
  mkdir -p "$dir"/{etc,db,run,log,spool/articles,spool/overview,spool/incoming/tmp,spool/outgoing,spool/tmp}
  # No bindaddress6, because INN would then require IPv6. No maximum size, because articles of a poster are larger than mail.
  # No cut-off, because articles of the test data keep the date of their first post. No load limit, because a busy machine
  # must not refuse readers here.
  cat >"$dir/etc/inn.conf" <<CONF
mta:             "/bin/false %s"
mailcmd:         /bin/false
organization:    "Sluice end-to-end test"
pathhost:        inn.sluice.invalid
domain:          sluice.invalid
fromhost:        sluice.invalid
bindaddress:     127.0.0.1
port:            $port
nnrpdpostport:   $port
ovmethod:        tradindexed
hismethod:       hisv6
maxartsize:      0
localmaxartsize: 0
maxconnections:  100
artcutoff:       0
nnrpdloadlimit:  0
doinnwatch:      false
pgpverify:       false
pathnews:        $dir/root/usr/lib/news
pathbin:         $dir/root/usr/lib/news/bin
pathcontrol:     $dir/root/usr/lib/news/bin/control
pathfilter:      $dir/etc/filter
pathetc:         $dir/etc
pathdb:          $dir/db
pathrun:         $dir/run
pathlog:         $dir/log
pathhttp:        $dir/log
pathspool:       $dir/spool
patharticles:    $dir/spool/articles
pathoverview:    $dir/spool/overview
pathincoming:    $dir/spool/incoming
pathoutgoing:    $dir/spool/outgoing
patharchive:     $dir/spool/archive
pathtmp:         $dir/spool/tmp
CONF
  cp "$dir"/root/etc/news/{control.ctl,distributions,expire.ctl,inn-secrets.conf,subscriptions} "$dir/etc/"
  mkdir "$dir/etc/filter"
  # No peers: every connection is a reader, as at a commercial provider.
  printf 'streaming: true\nmax-connections: 8\n' >"$dir/etc/incoming.conf"
  printf 'ME:!*/!local::\n' >"$dir/etc/newsfeeds"
  printf 'method tradspool {\n newsgroups: *\n class: 0\n}\n' >"$dir/etc/storage.conf"
  cat >"$dir/etc/readers.conf" <<'CONF'
auth "loopback" {
    hosts: "127.0.0.1, stdin"
    default: "<loopback>"
}
access "loopback" {
    users: "<loopback>"
    newsgroups: "*"
    access: RPA
    addcanlockuser: none
}
CONF
  local name
  for name in control control.cancel control.checkgroups control.newgroup control.rmgroup junk; do
    echo "$name 0000000000 0000000001 n"
  done >"$dir/db/active"
  echo "$group 0000000000 0000000001 y" >>"$dir/db/active"
  : >"$dir/db/newsgroups"
  echo "$port" >"$dir/port"
}

start() {
  local dir=$1 port log
  [ ! -e "$dir/port" ] || fail "$dir is in use"
  command -v dpkg >/dev/null && command -v apt-get >/dev/null || cannot "this is no Debian, so there are no packages of INN"
  [ "$(id -un)" = news ] || { [ "$(id -u)" = 0 ] && id news >/dev/null 2>&1 && command -v setpriv >/dev/null; } \
    || cannot "INN runs only as the user news, and only root can start it so"
  fetch_packages
  fetch_poster
  mkdir -p "$dir"; dir=$(cd "$dir" && pwd)
  [ ${#dir} -le 60 ] || fail "the path of $dir is too long for the socket that INN makes below it"
  local package
  for package in "$cache"/*.deb; do dpkg -x "$package" "$dir/root"; done
  port=$(free_port)
  configure "$dir" "$port"
  chown -R news:news "$dir"
  inn "$dir" sh -c 'cd "$0/db" && : >history && makedbz -i -o -f history' "$dir"
  # -f keeps innd in the foreground, as the process started here. Its own messages always go to syslog.
  log=$dir/innd.log
  (exec >"$log" 2>&1 </dev/null; inn "$dir" sh -c 'echo $$ >"$0/innd.pid"; exec innd -f -N' "$dir") &
  for _ in $(seq 100); do
    if (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then echo "$port"; return; fi
    sleep 0.1
  done
  stop "$dir"
  fail "INN did not start: $(tail -n 1 "$log" "$dir/log/errlog" 2>/dev/null)"
}

nyuu() {
  local dir=$1; shift
  "$here/node_modules/.bin/nyuu" --quiet --host 127.0.0.1 --port "$(cat "$dir/port")" --connections 2 "$@" </dev/null
}

post() {
  local dir=$1 nzb=$2; shift 2
  nyuu "$dir" --overwrite --groups "$group" --from 'Poster <poster@sluice.invalid>' --out "$nzb" "$@"
}

repost() {
  local dir=$1 wire article; shift
  # The poster expects the article in wire format, with doubled leading dots and the terminating line.
  wire=$(mktemp -d)
  for article in "$@"; do
    { LC_ALL=C sed 's/^\./../' "$article"; printf '.\r\n'; } >"$wire/$(basename "$article")"
  done
  nyuu "$dir" --input-raw-posts "$wire"/*
  rm -r "$wire"
}

stop() {
  local dir=$1 pid
  [ -f "$dir/innd.pid" ] || return 0
  pid=$(cat "$dir/innd.pid")
  kill "$pid" 2>/dev/null || return 0
  for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || return 0; sleep 0.1; done
  kill -9 "$pid"
}

case "${1:-}" in
  start) [ $# = 2 ] || fail "start DIR"; start "$2" ;;
  post) [ $# -ge 4 ] || fail "post DIR NZB FILE..."; post "${@:2}" ;;
  repost) [ $# -ge 3 ] || fail "repost DIR ARTICLE..."; repost "${@:2}" ;;
  stop) [ $# = 2 ] || fail "stop DIR"; stop "$2" ;;
  *) sed -n '2,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
