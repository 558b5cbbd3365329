#!/usr/bin/env bash
# Makes the container image of the Debian packages in a folder: itemdb-VERSION-image-MACHINE.tar, an OCI archive that
# `podman load -i FILE` takes, as do docker and skopeo. Its root is made by debootstrap, the image by buildah, with nothing from a
# registry. The image has the newest packages of SUITE, SUITE-updates and SUITE-security, as far as this machine's apt knows
# them, and asks the same servers. Needs root, for debootstrap, and Debian's package server.
#
#   container.sh PACKAGES VERSION SECONDS SUITE ROOT_TAR    SECONDS: the time that the image is dated by; SUITE: the
#                                                           Debian that the packages were built on; ROOT_TAR: cache of the root
set -euo pipefail
packages=$(realpath "$1") version=$2 seconds=$3 suite=$4 root_tar=$5
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/context/packages"
# What this machine's apt reads of SUITE, for the image. The names of the releases are in the lists of apt-get update.
# shellcheck disable=SC2016
apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' 'Origin: Debian' 'Component: main' |
  grep -E " $suite(-updates|-security)?\$" | sort -u |
  sed 's|.*|deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] & main|' >"$work/context/sources.list" || true
grep -q " $suite-security " "$work/context/sources.list" ||
  { echo "apt on this machine does not know $suite-security, whose updates the image must have: add it to the sources, and run apt-get update" >&2; exit 1; }
mirror=$(sed -n "s|.*] \(.*\) $suite main$|\1|p" "$work/context/sources.list" | head -n 1)

if [[ ! -e $root_tar ]]; then
  mkdir -p "$(dirname "$root_tar")"
  debootstrap --variant=minbase --include=ca-certificates,systemd-standalone-sysusers "$suite" "$work/root" ${mirror:+"$mirror"} >"$work/log" 2>&1 ||
    { tail -n 20 "$work/log" >&2; exit 1; }
  rm -rf "$work"/root/var/cache/apt/* "$work"/root/var/lib/apt/lists/* "$work"/root/var/log/*
  # The build's own: buildah writes others.
  rm -f "$work"/root/etc/resolv.conf "$work"/root/etc/hostname
  tar -C "$work/root" -cf "$root_tar.new" . && mv "$root_tar.new" "$root_tar"
fi

cp --reflink=auto "$root_tar" "$work/context/root.tar"
cp "$packages"/itemdb_*.deb "$packages"/itemdb-client_*.deb "$work/context/packages"
storage=(--storage-driver vfs --root "$work/storage" --runroot "$work/run")
image=localhost/itemdb:$version
buildah "${storage[@]}" build --isolation chroot --timestamp "$seconds" --tag "$image" \
  --label "org.opencontainers.image.title=itemdb" --label "org.opencontainers.image.version=$version" \
  --label "org.opencontainers.image.licenses=Apache-2.0" \
  --file "$here/Containerfile" "$work/context" >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; exit 1; }
archive=$packages/itemdb-$version-image-$(uname -m).tar
rm -f "$archive"
buildah "${storage[@]}" push --quiet "$image" "oci-archive:$archive:$image"
