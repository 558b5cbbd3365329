#!/usr/bin/env bash
# Makes the container image of the Debian packages in a folder: itemdb-VERSION-image-MACHINE.tar, an OCI archive that
# `podman load -i FILE` takes, as do docker and skopeo. Its root is made by debootstrap, the image by buildah, with nothing from a
# registry. Needs root, for debootstrap, and Debian's package server.
#
#   container.sh PACKAGES VERSION SECONDS SUITE ROOT_TAR    SECONDS: the time that the image is dated by; SUITE: the
#                                                           Debian that the packages were built on; ROOT_TAR: cache of the root
set -euo pipefail
packages=$(realpath "$1") version=$2 seconds=$3 suite=$4 root_tar=$5
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [[ ! -e $root_tar ]]; then
  mkdir -p "$(dirname "$root_tar")"
  debootstrap --variant=minbase --include=ca-certificates,systemd-standalone-sysusers "$suite" "$work/root" >"$work/log" 2>&1 ||
    { tail -n 20 "$work/log" >&2; exit 1; }
  rm -rf "$work"/root/var/cache/apt/* "$work"/root/var/lib/apt/lists/* "$work"/root/var/log/*
  # The build's own: buildah writes others.
  rm -f "$work"/root/etc/resolv.conf "$work"/root/etc/hostname
  tar -C "$work/root" -cf "$root_tar.new" . && mv "$root_tar.new" "$root_tar"
fi

mkdir -p "$work/context/packages"
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
