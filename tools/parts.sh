#!/usr/bin/env bash
# Chooses the long test parts that a change has to pass. tools/test.sh runs them.
#
#   tools/parts.sh                      prints one line per part: its name, yes or no, why, minutes, hash of its content
#   tools/parts.sh --table              the table below: name, minutes, paths
#   tools/parts.sh --passed PART HASH   records that a part has passed with this content
#
# A part is due if one of its paths, including uncommitted and untracked files, differs from the base: the newest first-parent ancestor of
# HEAD whose committer date is at least a day before HEAD's. So a merge counts, and a clean clone gets the same result on any day. A part
# that has passed on this machine with the same content is not due. If no part is due, one takes its turn by date. Without history (no git,
# a shallow clone, a repository younger than a day) all parts are due.
set -uo pipefail
# The patterns in the table are for git, not for the shell.
set -f

# name | minutes on two idle cores, including a build that only this part needs | paths
# PartTableTests checks that every room has a row, no room has more than four minutes of parts, and every path exists. Single files may
# have more parts than their room, because the start and the packages affect all forms of the server.
table='
kills|4|backend/src/Server/Backups backend/src/Server/Database backend/src/Server/Queue backend/src/Usenet/Nzb backend/tests/Server.Tests/Kills
starts|2|backend/src/Server/Diagnostics backend/src/Server/Settings backend/src/Server/Database/DataFolder.cs backend/src/Server/Database/DatabaseInspection.cs backend/src/Server/Database/DatabaseOpening.cs backend/src/Server/Database/BlobGeneration.cs backend/src/Server/Database/FolderLock.cs backend/src/Server/Database/ForeignDatabase.cs backend/src/Server/Database/MigrationRunner.cs backend/src/Server/Database/OpeningPolicy.cs backend/src/Server/Database/SafeMode.cs backend/src/Server/Database/StartRefusedException.cs backend/tests/Server.Tests/EndToEnd/DamagedStart.cs backend/tests/Server.Tests/EndToEnd/DamagedStartTests.cs backend/tests/Server.Tests/EndToEnd/FolderTemplate.cs backend/tests/Server.Tests/Settings/MutatedStartTests.cs
chaos|4|backend/src/Usenet/Nntp backend/src/Usenet/Primitives backend/src/Server/Library backend/src/Server/Outbound backend/src/Server/Providers backend/tests/Server.Tests/Chaos backend/tests/Server.Tests/EndToEnd/NewsServerTests.cs tools/MockNntpServer tools/inn
soak|3|backend/src/Usenet/Archives backend/src/Usenet/Par2 backend/src/Usenet/Streams backend/src/Usenet/Yenc backend/src/Server/Playbacks backend/tests/Server.Tests/EndToEnd/SoakTests.cs tools/FullNzbTester
clients|3|backend/src/Usenet/Media backend/src/Usenet/Probing backend/src/Server/Auth backend/src/Server/Listening backend/src/Server/WebDav tools/clients tools/clients.sh
browser-long|4|backend/src/Server/AdminApi backend/src/Server/Arr backend/src/Server/Events backend/src/Server/FamilyImport backend/src/Server/History backend/src/Server/Pages backend/src/Server/SabApi frontend
ships|6|tools/publish.sh backend/global.json backend/Directory.*.props backend/src/**/*.csproj backend/src/**/packages.lock.json backend/src/Server/Program.cs backend/src/Server/Settings/ProcessOptions.cs backend/src/Server/Settings/SettingText.cs backend/src/Server/Diagnostics/StartPages.cs backend/src/Server/Diagnostics/ProcessImage.cs backend/src/Server/Diagnostics/UnicodeLibrary.cs backend/src/Server/Diagnostics/WiderBuild.cs backend/src/Server/Database/DataFolder.cs backend/src/Server/Database/DatabaseJson.cs backend/src/Server/Database/DatabaseRegistration.cs backend/src/Server/Database/PosixCalls.cs backend/src/Server/AdminApi/AdminJson.cs backend/src/Server/AdminApi/*Shapes.cs backend/src/Server/AdminApi/*Resource.cs backend/src/Server/AdminApi/AdminProblem.cs backend/src/Server/Backups/AcceptedLog.cs backend/src/Server/Backups/BackupManifest.cs backend/src/Server/FamilyImport/FamilyImportStore.cs backend/src/Server/History/HistoryItem.cs backend/src/Server/Outbound/RcloneClient.cs backend/src/Server/Outbound/UpdateFeed.cs backend/src/Server/Queue/Intake/StagingFolder.cs backend/src/Server/WebDav/Tree/QueueProperties.cs backend/src/Usenet/Streams/Memory/BlockPages.cs backend/tests/Server.Tests/EndToEnd/ShippedFormTests.cs
image|4|docker docker-compose.yml .dockerignore config tools/image.sh tools/publish.sh backend/src/Server/Program.cs backend/src/Server/Database/DataFolder.cs backend/src/Server/Settings/ProcessOptions.cs backend/src/Server/Diagnostics/HealthQuestion.cs backend/src/Server/Diagnostics/Process*.cs
archive|4|docs/install.md LICENSE config tools/release.sh tools/publish.sh backend/src/Server/Program.cs
'
day=86400

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
records=$root/artifacts/parts
names=() minutes=() paths=()
while IFS='|' read -r name length files; do
  [ -n "$name" ] || continue
  names+=("$name") minutes+=("$length") paths+=("$files")
done <<<"$table"

# Prints why there is no base to compare with, or nothing if there is one. Sets base.
find_base() {
  local now
  [ "$(git -C "$root" rev-parse --show-toplevel 2>/dev/null)" = "$root" ] || { echo "no git history"; return; }
  [ "$(git -C "$root" rev-parse --is-shallow-repository)" = false ] || { echo "the clone is shallow"; return; }
  now=$(git -C "$root" log -1 --format=%ct 2>/dev/null) || { echo "no commit"; return; }
  base=$(git -C "$root" log --first-parent --format='%H %ct' | awk -v latest=$((now - day)) '!found && $2 <= latest { print $1; found = 1 }')
  [ -n "$base" ] || echo "no commit is a day older than HEAD"
}

# Prints the pathspecs of a part: each file or folder, and everything in it.
pathspecs() { local path; for path in $1; do echo ":(top,glob)$path" ":(top,glob)$path/**"; done; }

# Returns one hash for the names, modes and bytes of all files of a part, tracked or not.
hash_of() {
  local file
  cd "$root" || return
  # shellcheck disable=SC2046
  git ls-files -z --cached --others --exclude-standard -- $(pathspecs "$1") | LC_ALL=C sort -zu \
    | while IFS= read -r -d '' file; do [ ! -f "$file" ] || printf '%s\0' "$file"; done >"$scratch"
  { xargs -0r stat -c '%a %n' <"$scratch"; xargs -0r sha256sum <"$scratch"; } | sha256sum | cut -c 1-40
}

# Prints the first path of a part that differs from the base, or nothing.
difference() {
  # shellcheck disable=SC2046
  { git -C "$root" diff --name-only "$base" -- $(pathspecs "$1")
    git -C "$root" ls-files --others --exclude-standard -- $(pathspecs "$1"); } | head -n 1
}

last_commit() {
  # shellcheck disable=SC2046
  git -C "$root" log -1 --format='last touched by %h of %cs' -- $(pathspecs "$1")
}

choose() {
  local i reason changed due=no line results=() whys=() hashes=() turn
  base=
  # Runs in this shell, so that base is set here too.
  find_base >"$scratch"; reason=$(cat "$scratch")
  for i in "${!names[@]}"; do
    results[i]=no hashes[i]=-
    if [ -n "$reason" ]; then
      results[i]=yes whys[i]=$reason due=yes
      continue
    fi
    hashes[i]=$(hash_of "${paths[i]}")
    changed=$(difference "${paths[i]}")
    if [ -z "$changed" ]; then
      whys[i]=$(last_commit "${paths[i]}")
    elif line=$(grep -s "^${hashes[i]} " "$records/${names[i]}" | tail -n 1) && [ -n "$line" ]; then
      whys[i]="passed with this content on ${line#* }"
    else
      results[i]=yes whys[i]="$changed differs from $(git -C "$root" log -1 --format='%h of %cs' "$base")" due=yes
    fi
  done
  if [ "$due" = no ]; then
    turn=$(($(date +%s) / day % ${#names[@]}))
    results[turn]=yes whys[turn]="its turn today; ${whys[turn]}"
  fi
  for i in "${!names[@]}"; do
    printf '%s\t%s\t%s\t%s\t%s\n' "${names[i]}" "${results[i]}" "${whys[i]:-never touched}" "${minutes[i]}" "${hashes[i]}"
  done
}

case "${1:-}" in
  "") scratch=$(mktemp); trap 'rm -f "$scratch"' EXIT; choose ;;
  --table) for i in "${!names[@]}"; do printf '%s\t%s\t%s\n' "${names[i]}" "${minutes[i]}" "${paths[i]}"; done ;;
  --passed)
    [ $# = 3 ] || exit 2
    [ "$3" != - ] || exit 0
    mkdir -p "$records" && echo "$3 $(date +%F)" >>"$records/$2" ;;
  *) sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
