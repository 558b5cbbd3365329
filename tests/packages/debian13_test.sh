#!/usr/bin/env bash
# Builds the last commit and runs its release tests in a Debian 13 that debootstrap makes. Needs root and Debian's package
# server. Folder and compiler's cache are kept, so that the next run builds only what has changed.
#
#   debian13_test.sh ROOT    ROOT: the folder of the Debian 13, made if it is missing
set -euo pipefail
root=$1
tree=$(cd "$(dirname "$(realpath "$0")")/../.." && pwd)
((EUID == 0)) || { echo "this makes a Debian 13 in $root, for which debootstrap and systemd-nspawn need root" >&2; exit 1; }

if [[ ! -e $root/etc/debian_version ]]; then
  rm -rf "$root.new"
  mkdir -p "$(dirname "$root")"
  debootstrap --variant=minbase trixie "$root.new" >"$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; exit 1; }
  mv "$root.new" "$root"
fi

source=$root/root/itemdb
[[ -e $source/.git ]] || git -c init.defaultBranch=main init --quiet "$source"
git -C "$source" fetch --quiet "$tree" HEAD
git -C "$source" -c advice.detachedHead=false checkout --quiet --force FETCH_HEAD

rm -f "$root/etc/resolv.conf" && cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
# npm trusts there whom this machine trusts. The tests get all that a computer may do, because they make namespaces and
# mounts as on a computer of their own.
certificates=/etc/ssl/certs/ca-certificates.crt
systemd-nspawn --quiet --directory="$root" --register=no --keep-unit --capability=all --setenv=HOME=/root \
  --bind-ro="$certificates:/run/certificates.crt" --setenv=NODE_EXTRA_CA_CERTS=/run/certificates.crt \
  --chdir=/root/itemdb --console=pipe ./dev test release </dev/null
