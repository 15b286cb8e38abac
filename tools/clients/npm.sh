# The npm packages for WebDAV and for the SABnzbd API.

run_npm() {
  has npm || { skip npm "npm is not installed"; return; }
  install_modules || { skip npm "npm cannot install the clients: $(grep -m 1 -i error "$work/npm.log")"; return; }
  try npm "webdav $(module_version webdav)" "list, stat, whole files, ranges, refusals" \
    bounded node "$here/webdav.mjs" "$host" "$user" "$password" "$folder" "$work"
  try npm "sabnzbd-api $(module_version sabnzbd-api)" "keys, add, history, retry, delete, statistics, status" \
    bounded node "$here/sabnzbd.mjs" "$host" "$user" "$password" "$key" "$work/$release.nzb"
}

module_version() { sed -n 's/.*"version": *"\([^"]*\)".*/\1/p' "$here/node_modules/$1/package.json"; }
