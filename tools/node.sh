# Finds Node.js 24 for the web UI. tools/frontend.sh and tools/test.sh source this file and run Node.js by with_node.
#
# If the machine's Node.js is older, npm installs the package `node` into artifacts/node once, because the packages of the web UI no longer
# run on Node.js 20, whose support ended in April 2026. PATH stays unchanged, because other programs have modules compiled for the machine's
# own Node.js. Without npm or the package, node_missing contains the reason.

node_wanted=24.21.0
node_missing=''
node_folder=''

# Whether the first Node.js in PATH is recent enough.
node_is_new() {
  local version
  version=$(node --version 2>/dev/null) || return 1
  version=${version#v}
  [ "${version%%.*}" -ge "${node_wanted%%.*}" ]
}

# take_node FOLDER: installs Node.js there, unless it is installed already.
take_node() {
  local folder=$1 binary=$1/node_modules/node/bin
  if [ "$("$binary/node" --version 2>/dev/null)" != "v$node_wanted" ]; then
    echo "node.sh: installing Node.js $node_wanted from npm" >&2
    rm -rf "$folder" && mkdir -p "$folder" && echo '{ "private": true }' >"$folder/package.json"
    (cd "$folder" && npm install --no-audit --no-fund "node@$node_wanted") >"$folder/log" 2>&1
    [ "$("$binary/node" --version 2>/dev/null)" = "v$node_wanted" ] || { tail -n 5 "$folder/log" >&2; return 1; }
  fi
  node_folder=$binary
}

# with_node COMMAND...
with_node() { env PATH="${node_folder:+$node_folder:}$PATH" "$@"; }

if ! node_is_new; then
  if ! command -v npm >/dev/null; then
    node_missing="neither Node.js ${node_wanted%%.*} nor npm is installed"
  elif ! take_node "$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/artifacts/node"; then
    node_missing="Node.js $(node --version 2>/dev/null) is older than ${node_wanted%%.*}, and npm could not install a newer one"
  fi
fi
