# Finds Node.js 24 for the web UI. To be sourced by tools/frontend.sh and tools/test.sh, which run it with with_node.
#
# Where the machine's own is older, npm installs the package `node` into artifacts/node, once: the packages of the web UI no longer run on
# Node.js 20, whose support ended in April 2026. PATH stays as it is, because other programs have modules that were compiled for the
# machine's own. Without npm, or without that package, node_missing says why.

node_wanted=24.21.0
node_missing=''
node_folder=''

# Whether the first Node.js in PATH is new enough.
node_is_new() {
  local version
  version=$(node --version 2>/dev/null) || return 1
  version=${version#v}
  [ "${version%%.*}" -ge "${node_wanted%%.*}" ]
}

# take_node FOLDER: installs it there unless it is there already.
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
