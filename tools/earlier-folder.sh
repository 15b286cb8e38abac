#!/usr/bin/env bash
# Makes the data folders of earlier builds, which EarlierFolderTests open with the current one.
#
#   tools/earlier-folder.sh COMMIT...
#
# Builds the server of each commit, imports a plain film and one in a RAR set from the mock news server, reads what it serves, and writes
# the folder, with the checksums of its films, to backend/tests/Fixtures/earlier/schema-NN.tar.gz. After a migration has landed,
# run it with the commit before.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folders=$root/backend/tests/Fixtures/earlier
key=0123456789abcdef0123456789abcdef
password=password-of-the-test
[ $# -gt 0 ] || { sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }

export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
work=$(mktemp -d)
started=()
finish() {
  [ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null || true
  [ ! -d "$work/source" ] || git -C "$root" worktree remove --force "$work/source"
  rm -rf "$work"
}
trap finish EXIT

# wait_for WHAT COMMAND...: repeats a command until it succeeds, for two minutes at most.
wait_for() {
  local what=$1; shift
  for _ in $(seq 1200); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.1
  done
  echo "earlier-folder.sh: timed out waiting for $what" >&2
  exit 1
}

# Starts a mock news server, which also writes the NZB of a film. Any of them serves the articles of both films.
start_mock() {
  local name=$1; shift
  dotnet "$root/tools/MockNntpServer/bin/Release/net10.0/Sluice.Tools.MockNntpServer.dll" \
    --size=1 --article-size=65536 --latency=0 --jitter=0 --nzb="$work/$name.nzb" "$@" 2>"$work/$name.ready" &
  started+=($!)
  wait_for "the mock news server" grep -q '^ready' "$work/$name.ready"
}

# Paths of the files below a folder of the tree.
files_below() {
  curl -sf -u "admin:$password" -X PROPFIND -H 'Depth: 1' "$server/$1/" | grep -oE '<[A-Za-z]*:?href>[^<]*' | sed 's/^[^>]*>//; s|^https\{0,1\}://[^/]*||; s|^/||' \
    | while IFS= read -r path; do
        case $path in
          "$1/") ;;
          */) files_below "${path%/}" ;;
          *) echo "$path" ;;
        esac
      done
}

history_of() { curl -sf "$server/api?mode=history&output=json&apikey=$key"; }

has_finished() { [ "$(history_of | grep -oE '"status": *"(Completed|Failed)"' | wc -l)" -ge "$1" ]; }

(cd "$root/backend" && dotnet restore ../tools/MockNntpServer --locked-mode -v quiet && dotnet build ../tools/MockNntpServer -c Release --no-restore -v quiet -nologo -p:RunAnalyzers=false)
start_mock Harbour.Lights.2024.1080p --seed=20
start_mock Paper.Moon.Rising.2023.720p --seed=21 --layout=rar5 --volumes=3
provider=$(sed -n 's/^ready nntp=127.0.0.1:\([0-9]*\).*/\1/p' "$work/Harbour.Lights.2024.1080p.ready")
mkdir -p "$folders"

for commit in "$@"; do
  source=$work/source
  git -C "$root" worktree add --quiet --detach "$source" "$commit"
  migrations=("$source"/backend/src/Server/Database/Migrations/*.sql)
  schema=$(basename "${migrations[-1]}" | cut -c 3-4)
  (cd "$source/backend" && dotnet restore src/Server --locked-mode -v quiet && dotnet build src/Server -c Release --no-restore -v quiet -nologo -p:RunAnalyzers=false)

  data=$work/data
  rm -rf "$data" && mkdir "$data"
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  server=http://127.0.0.1:$port
  CONFIG_PATH=$data PORT=$port BIND_ADDRESS=127.0.0.1 SLUICE_CONFIG__API__KEY=$key SLUICE_CONFIG__WEBDAV__PASS=$password \
    SLUICE_CONFIG__USENET__PROVIDERS="{\"Providers\":[{\"Host\":\"127.0.0.1\",\"Port\":$provider,\"UseSsl\":false,\"MaxConnections\":4,\"Type\":1}]}" \
    dotnet "$source/backend/src/Server/bin/Release/net10.0/Sluice.Server.dll" >"$work/server.log" 2>&1 &
  process=$!
  started+=("$process")
  wait_for "the server of $commit" curl -sf "$server/readyz"
  for nzb in "$work"/*.nzb; do
    curl -sf -F "name=@$nzb" "$server/api?mode=addfile&cat=movies&output=json&apikey=$key" >/dev/null
  done
  wait_for "the imports of $commit" has_finished 2

  # A build that cannot map archives has the plain film alone.
  for path in $(files_below content/movies); do
    echo "$(curl -sf -u "admin:$password" "$server/$path" | sha256sum | cut -d ' ' -f 1)  $path"
  done >"$data/films.sha256"
  [ -s "$data/films.sha256" ] || { echo "earlier-folder.sh: $commit serves no film" >&2; exit 1; }
  kill "$process"
  wait "$process"
  git -C "$root" worktree remove --force "$source"

  tar -C "$data" -cf - --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --exclude=cache --exclude=sluice.lock --exclude=sluice.reserve . \
    | gzip -9n >"$folders/schema-$schema.tar.gz"
  echo "schema $schema of $(git -C "$root" rev-parse --short "$commit"): $(wc -l <"$data/films.sha256") films, $(stat -c %s "$folders/schema-$schema.tar.gz") bytes"
done
