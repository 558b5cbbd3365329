#!/usr/bin/env bash
# Installs, upgrades, removes and purges the Debian packages in a fresh Debian with systemd as its first process
# (systemd-nspawn), and asks the service, also with data directories that earlier programs wrote. Needs root and Debian's
# package server.
#
#   packages_test.sh PACKAGES SUITE ROOT_TAR [EARLIER]    PACKAGES: folder of the .deb files; SUITE: the Debian they were built
#                                                         on, such as bookworm; ROOT_TAR: cache of the fresh Debian; EARLIER:
#                                                         folder of itemdb_*.deb and itemdb-client_*.deb of a version before,
#                                                         which are upgraded too
set -euo pipefail
packages=$1 suite=$2 root_tar=$3 earlier=${4:-}
golden=$(dirname "$(realpath "$0")")/../storage
work=$(mktemp -d)
root=$work/root
trap 'rm -rf "$work"' EXIT

if [[ ! -e $root_tar ]]; then
  debootstrap --variant=minbase --include=systemd,dbus "$suite" "$root" >"$work/debootstrap.log" 2>&1 ||
    { tail -n 20 "$work/debootstrap.log" >&2; exit 1; }
  mkdir -p "$(dirname "$root_tar")"
  tar -C "$root" -cf "$root_tar.new" . && mv "$root_tar.new" "$root_tar"
else
  mkdir "$root" && tar -C "$root" -xf "$root_tar"
fi

cp "$packages"/*.deb "$root/root/"
for format in 1 2; do cp -r "$golden/golden_v$format/data" "$root/root/format-$format"; done
# The same packages with a later version.
for package in itemdb itemdb-client; do
  dpkg-deb -R "$packages/$package"_*.deb "$work/later"
  sed -i 's/^Version: .*/&+later/' "$work/later/DEBIAN/control"
  dpkg-deb --root-owner-group -b "$work/later" "$root/root/later-$package.deb" >/dev/null
  rm -r "$work/later"
done
mkdir "$root/root/earlier"
[[ -z $earlier ]] || cp "$earlier"/itemdb_*.deb "$earlier"/itemdb-client_*.deb "$root/root/earlier"

cat >"$root/root/steps.sh" <<'STEPS'
#!/bin/bash
set -euxo pipefail
export DEBIAN_FRONTEND=noninteractive
cd /root
SECONDS=0
apt-get update -q
apt-get install -q -y --no-install-recommends ./itemdb_*.deb ./itemdb-client_*.deb

: the service runs as its user and answers
systemctl is-active itemd
[[ $(stat -c %U:%a /var/lib/itemdb) == itemdb:700 ]]
itemctl status
itemctl -o table table create -f - <<'JSON'
{"TableName": "Birds", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
 "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]}
JSON
itemctl item put Birds '{"id": "owl", "legs": 2}'
[[ $(itemctl -o jsonl item get Birds '{"id": "owl"}') == *'"legs"'* ]]
echo "$SECONDS" >seconds

: the console is in the package, with the licences of what it contains
itemd --data-dir /tmp/console --listen unix:/tmp/console.sock --metrics-listen 127.0.0.1:7499 &
for _ in $(seq 100); do exec 3<>/dev/tcp/127.0.0.1/7499 && break; sleep 0.1; done
printf 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
[[ $(cat <&3) == *'src="/console-'* ]]
kill %1 && wait %1
for name in preact uplot; do grep -q "^Files: node_modules/$name/" /usr/share/doc/itemdb/copyright; done

: each alert names a section of a document that the package has installed
alerts=/usr/share/itemdb/prometheus/itemdb-alerts.yml
runbooks=$(sed -n 's/^ *runbook: "\(.*\)"$/\1/p' $alerts)
[[ $(wc -l <<<"$runbooks") == $(grep -c '^ *- alert: ' $alerts) ]]
while IFS='#' read -r document section; do
  [[ -f $document && $(dpkg -S "$document") == itemdb:* ]]
  grep -qixF "### $section" "$document"
done <<<"$runbooks"

: an upgrade keeps data and a changed configuration, and restarts the service
sed -i 's/^#slow-request.*/slow-request = "250ms"/' /etc/itemdb/itemd.toml
grep -q '^slow-request = "250ms"' /etc/itemdb/itemd.toml
before=$(systemctl show -P MainPID itemd)
apt-get install -q -y ./later-itemdb.deb
systemctl is-active itemd
[[ $(systemctl show -P MainPID itemd) != "$before" ]]
[[ $(itemctl -o jsonl item get Birds '{"id": "owl"}') == *'"legs":2'* || $(itemctl -o jsonl item get Birds '{"id": "owl"}') == *'"legs": 2'* ]]
grep -q '^slow-request = "250ms"' /etc/itemdb/itemd.toml

: without the server the data and the configuration stay
apt-get remove -q -y itemdb
[[ ! -e /usr/bin/itemd ]]
! systemctl is-active itemd
[[ -e /etc/itemdb/itemd.toml && -d /var/lib/itemdb/rocksdb ]]
apt-get install -q -y ./later-itemdb.deb
[[ $(itemctl -o jsonl count Birds) == *1* ]]

: purging removes the configuration and never the data
mkdir /root/by-hand
cp /usr/bin/itemd /lib/systemd/system/itemd.service /root/by-hand
apt-get purge -q -y itemdb itemdb-client
[[ ! -e /etc/itemdb/itemd.toml && ! -e /usr/bin/itemctl ]]
[[ -d /var/lib/itemdb/rocksdb ]]

: over a daemon installed by hand: its data stay, and the installation says which program the service runs
cp /root/by-hand/itemd /usr/local/bin/itemd
sed 's|^ExecStart=.*|ExecStart=/usr/local/bin/itemd --data-dir /var/lib/itemdb --listen unix:/run/itemdb/itemd.sock|' /root/by-hand/itemd.service >/etc/systemd/system/itemd.service
apt-get install -q -y --no-install-recommends ./itemdb-client_*.deb
systemctl daemon-reload
systemctl start itemd
[[ $(readlink "/proc/$(systemctl show -P MainPID itemd)/exe") == /usr/local/bin/itemd ]]
itemctl item put Birds '{"id": "hen"}'
apt-get install -q -y --no-install-recommends ./itemdb_*.deb 2>&1 | tee installed
grep -q '^itemdb: /etc/systemd/system/itemd.service, which is not of this package' installed
grep -q '^itemdb: /usr/local/bin/itemd --data-dir .* To run' installed
grep -q '^itemdb: /usr/local/bin/itemd, which is not of this package, is what a shell finds as itemd' installed
[[ $(itemctl -o jsonl count Birds) == *'"Count": 2,'* ]]
eval "$(tr -d '\r' <installed | sed -n 's/^itemdb:   //p')"
rm /usr/local/bin/itemd
[[ $(readlink "/proc/$(systemctl show -P MainPID itemd)/exe") == /usr/bin/itemd ]]
[[ $(itemctl -o jsonl count Birds) == *'"Count": 2,'* ]]
apt-get purge -q -y itemdb itemdb-client

: packages of the version before are upgraded, with the data that their service wrote and a changed configuration
if [[ -n $(ls earlier) ]]; then
  rm -rf /var/lib/itemdb
  apt-get install -q -y --no-install-recommends ./earlier/*.deb
  systemctl is-active itemd
  sed -i 's/^#slow-request.*/slow-request = "250ms"/' /etc/itemdb/itemd.toml
  systemctl restart itemd
  itemctl order-entry load
  itemctl order-entry all >answers-before
  itemctl backup create
  before=$(systemctl show -P MainPID itemd)
  programs=$(sha256sum /usr/bin/itemd /usr/bin/itemctl)
  apt-get install -q -y --no-install-recommends -o Dpkg::Options::=--force-confold ./later-itemdb.deb ./later-itemdb-client.deb
  [[ $(sha256sum /usr/bin/itemd /usr/bin/itemctl) != "$programs" ]]
  systemctl is-active itemd
  [[ $(systemctl show -P MainPID itemd) != "$before" ]]
  grep -q '^slow-request = "250ms"' /etc/itemdb/itemd.toml
  itemctl order-entry all >answers-after
  [[ -s answers-after ]]
  diff answers-before answers-after
  itemctl check
  [[ $(itemctl -o jsonl backup list | wc -l) == 1 ]]
  itemctl backup verify 1
  itemctl order-entry place-order ord_900 cust_001 --date 2026-02-01 --rep rep_001 --line prod_100 wh_sea 2 25.00
  itemctl check
  apt-get purge -q -y itemdb itemdb-client
  touch upgraded
fi

: data of an earlier program of the same format are served after the installation
data() {
  rm -rf /var/lib/itemdb
  cp -r "$1" /var/lib/itemdb
  chown -R itemdb:itemdb /var/lib/itemdb
  chmod 700 /var/lib/itemdb
}
data format-2
apt-get install -q -y --no-install-recommends ./itemdb_*.deb ./itemdb-client_*.deb
systemctl is-active itemd
[[ $(itemctl -o jsonl count Numbers) == *'"Count": 10,'* ]]
itemctl item put Numbers '{"key": 43}'

: data of 0.1.0, format 1, are refused with one sentence and stay as they are
systemctl stop itemd
data format-1
! systemctl start itemd
[[ $(systemctl show -P ExecMainStatus itemd) == 65 ]]
journalctl -u itemd >journal
[[ $(grep -c 'has format version 1; this program knows version 2.2. Open it with the program that wrote it' journal) == 1 ]]
diff -r --exclude LOCK format-1 /var/lib/itemdb
touch /root/passed
STEPS
chmod +x "$root/root/steps.sh"
cat >"$root/etc/systemd/system/steps.service" <<'UNIT'
[Service]
Type=exec
ExecStart=/bin/sh -c '/root/steps.sh >/root/steps.log 2>&1'
ExecStopPost=/bin/systemctl poweroff --no-block
RuntimeMaxSec=360
UNIT
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -s ../steps.service "$root/etc/systemd/system/multi-user.target.wants/steps.service"
rm -f "$root/etc/resolv.conf" && cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true

timeout 420 systemd-nspawn --quiet --directory="$root" --register=no --keep-unit --boot \
  systemd.unit=multi-user.target >"$work/console.log" 2>&1 || true
if [[ ! -e $root/root/passed ]]; then
  tail -n 60 "$root/root/steps.log" >&2 || tail -n 60 "$work/console.log" >&2
  echo "the packages do not pass: the last step above failed" >&2
  exit 1
fi
echo "the first answer came $(cat "$root/root/seconds") s after the installation began"
if [[ -e $root/root/upgraded ]]; then
  echo "upgraded from $(cd "$earlier" && ls itemdb_*.deb), with its data"
else
  echo "there are no packages of an earlier version${earlier:+ in $earlier}, whose upgrade could be tested"
fi
echo "installed, asked, upgraded, removed and purged in a fresh Debian ($suite) under systemd"
