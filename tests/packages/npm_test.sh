#!/usr/bin/env bash
# Installs the package for npm into an empty folder, without a network, and runs its programs through npx.
#
#   npm_test.sh FOLDER    the folder in which packaging/npm/make_package.py has written its file
set -euo pipefail
package=$(realpath "$(ls "$1"/itemdb-*.tgz)")
work=$(mktemp -d)
daemon=
trap '[[ -z $daemon ]] || kill "$daemon" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
export npm_config_cache=$work/cache npm_config_offline=true npm_config_update_notifier=false
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund "$package"

# Its README names the glibc that the newest symbol of a program or library asks for.
glibc=$(find node_modules/itemdb/itemdb/bin node_modules/itemdb/itemdb/lib -type f -exec objdump -p {} + |
  grep -oE '\bGLIBC_[0-9.]+' | cut -d_ -f2 | sort -V | tail -n 1)
grep -q "glibc $glibc or newer" node_modules/itemdb/README.md
npx --no-install itemdb --version
npx --no-install itemd --version
npx --no-install -p itemdb itemctl version
# A wrong setting: the exit code is the program's.
code=0
npx --no-install itemdb --no-such-setting 2>wrong || code=$?
grep -q 'no-such-setting is not a flag' wrong
[[ $code != 0 ]]

# The link that npx runs, so that signals reach it and no process of npm.
node_modules/.bin/itemdb dev --listen 127.0.0.1:0 --http-listen 127.0.0.1:0 --address-file "$work/address" 2>log >&2 &
daemon=$!
for _ in $(seq 200); do [[ -s address ]] && break; sleep 0.1; done
http=$(sed -n 's/.*"http":\["\([^"]*\)".*/\1/p' address)
answer=$(python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(f"http://{sys.argv[1]}/").read().decode())' "$http")
[[ $answer == healthy* ]] || { echo "answered $answer" >&2; cat log >&2; exit 1; }
# SIGTERM ends itemd, and its exit code comes back.
kill "$daemon"
wait "$daemon" || { echo "exit code $?" >&2; cat log >&2; exit 1; }
daemon=
[[ ! -e address ]] || { echo "itemd did not end in order" >&2; exit 1; }
echo "npx runs the programs of the package"
