#!/usr/bin/env bash
# Writes frontend/openapi.json, the description of the admin API, from the routes and records of the server. A test checks it.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
cd "$root/backend"
dotnet build tests/Server.Tests -c Release -v quiet -nologo
SLUICE_WRITE_OPENAPI=1 tests/Server.Tests/bin/Release/net10.0/Sluice.Server.Tests -noLogo -noColor \
  -method '*.ApiDescriptionTests.Committed_openapi_json_matches_the_server'
