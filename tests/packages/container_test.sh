#!/usr/bin/env bash
# Starts the image of packaging/container.sh as its configuration says, asks it inside and over HTTP, stops it, and starts
# another container on the same volume. Needs root. The container is run by runc, with namespaces of its own; where the kernel's
# control groups do not let it, in a chroot of the image's files, and the last line says so.
#
#   container_test.sh FOLDER    the folder of the image
set -euo pipefail
archive=$(ls "$1"/itemdb-*-image-*.tar)
work=$(mktemp -d)
runner=
storage=(buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run")
finish() {
  [[ -z $runner ]] || kill -9 "$(daemon)" 2>/dev/null || true
  "${storage[@]}" rm --all >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap finish EXIT
fail() {
  cat "$work/log" >&2 2>/dev/null || true
  echo "$*" >&2
  exit 1
}

container=$("${storage[@]}" from --quiet "oci-archive:$archive")
isolation=(--isolation oci --runtime runc) how="by runc"
if ! "${storage[@]}" run "${isolation[@]}" --network host "$container" -- /bin/true 2>"$work/log"; then
  isolation=(--isolation chroot) how="in a chroot: runc cannot start containers here ($(head -n 1 "$work/log"))"
fi
field() { "${storage[@]}" inspect --format "{{$1}}" "$container"; }
[[ $(field .OCIv1.Config.User) == itemdb ]] || fail "the image runs as $(field .OCIv1.Config.User)"
[[ $(field .OCIv1.Config.Volumes) == *"/var/lib/itemdb"* ]] || fail "the image has no volume for its data"
entry=$(field '(index .OCIv1.Config.Entrypoint 0)')
[[ -z $(field 'range .OCIv1.Config.Cmd}}{{.}}{{end') ]] || fail "the image has arguments beside its entrypoint"

# Debian's updates are in it: none of today's is missing.
pending=$("${storage[@]}" run "${isolation[@]}" --user root --network host "$container" -- /bin/sh -c \
  'apt-get -o APT::Update::Error-Mode=any update -q >&2 && apt-get -s -q upgrade' 2>"$work/log" | sed -n 's/^Inst //p') || fail "the image cannot look for updates"
[[ -z $pending ]] || fail "the image lacks updates of Debian: $pending"
"${storage[@]}" rm "$container" >/dev/null
container=$("${storage[@]}" from --quiet "oci-archive:$archive")

# An empty volume, as podman makes it: with the owner and the mode of the folder in the image.
mount=$("${storage[@]}" mount "$container")
mkdir "$work/volume"
chown --reference="$mount/var/lib/itemdb" "$work/volume"
chmod --reference="$mount/var/lib/itemdb" "$work/volume"
[[ $(stat -c %u:%a "$work/volume") == 7420:700 ]] || fail "/var/lib/itemdb is $(stat -c %u:%a "$work/volume")"

inside() { "${storage[@]}" run "${isolation[@]}" --network host "$container" -- "$@"; }
# The process of itemd among the descendants of `runner`.
daemon() {
  local pids=$runner next pid
  while [[ -n $pids ]]; do
    next=
    for pid in $pids; do
      [[ $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null) != "$entry "* ]] || { echo "$pid"; return; }
      next+=" $(cat /proc/"$pid"/task/*/children 2>/dev/null || true)"
    done
    pids=${next// /} && pids=${pids:+$next}
  done
}
start() {
  rm -f "$mount/run/itemdb/itemd.json"
  "${storage[@]}" run "${isolation[@]}" --network host --volume "$work/volume:/var/lib/itemdb" \
    --env ITEMD_HTTP_LISTEN=127.0.0.1:0 --env ITEMD_ADDRESS_FILE=/run/itemdb/itemd.json "$container" -- "$entry" >"$work/log" 2>&1 &
  runner=$!
  for _ in $(seq 200); do
    [[ ! -s $mount/run/itemdb/itemd.json ]] || return 0
    kill -0 "$runner" 2>/dev/null || fail "the container ended"
    sleep 0.1
  done
  fail "the container did not begin to serve"
}
stop() {
  local status=0
  kill -TERM "$(daemon)"
  wait "$runner" || status=$?
  runner=
  ((status == 0)) || fail "the container ended with $status"
}

start
[[ $(stat -c %u "/proc/$(daemon)") == 7420 ]] || fail "itemd runs as $(stat -c %u "/proc/$(daemon)")"
inside itemctl -o jsonl status >/dev/null
table='{"TableName": "Birds", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
 "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]}'
inside /bin/sh -c "echo '$table' | itemctl table create -f -" >/dev/null
inside itemctl item put Birds '{"id": "owl", "legs": 2}' >/dev/null
http=$(sed -n 's/.*"http":\["\([^"]*\)".*/\1/p' "$mount/run/itemdb/itemd.json")
answer=$(curl -sS "http://$http/" -H 'X-Amz-Target: DynamoDB_20120810.GetItem' -H 'Content-Type: application/x-amz-json-1.0' \
  -H 'X-Amz-Date: 20261127T000000Z' -H 'Authorization: AWS4-HMAC-SHA256 Credential=any/20261127/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0' \
  -d '{"TableName": "Birds", "Key": {"id": {"S": "owl"}}}')
[[ $answer == *'"legs":{"N":"2"}'* ]] || fail "over HTTP the item is: $answer"
stop

# Another container with the same volume, as after an upgrade.
"${storage[@]}" rm "$container" >/dev/null
container=$("${storage[@]}" from --quiet "oci-archive:$archive")
mount=$("${storage[@]}" mount "$container")
start
[[ $(inside itemctl -o jsonl item get Birds '{"id": "owl"}') == *'"legs": 2'* ]] || fail "in another container the item is gone"
stop
echo "the image $(basename "$archive"), $(stat -c %s "$archive") bytes, was started and asked, and another container on its volume, $how"
