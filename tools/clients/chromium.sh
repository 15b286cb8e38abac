# Chromium: <video> over a signed link in a headless browser.

run_chromium() {
  has chromium || { skip chromium "it is not installed"; return; }
  has npm || { skip chromium "npm is not installed, so there is nothing that drives it"; return; }
  has openssl || { skip chromium "openssl is not installed, which signs the link"; return; }
  install_modules || { skip chromium "npm cannot install playwright-core: $(grep -m 1 -i error "$work/npm.log")"; return; }
  try chromium "$(chromium --version 2>/dev/null | sed 's/^Chromium \([0-9.]*\).*/\1/')" "<video> over a signed link: start and 20 seeks, frame by frame" \
    bounded node "$here/chromium.mjs" "$(command -v chromium)" "$host/healthz" "$(signed film.mp4)"
}
