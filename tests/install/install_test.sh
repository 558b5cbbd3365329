#!/bin/bash
# Installs into a temporary prefix, moves the prefix, builds program/ with the installed libraries, with CMake and with
# pkg-config, and runs both on the fake database and on the installed daemon. Builds examples/ and runs one of them.
# Checks the other installed files. Prints sizes and build times.
#
#   install_test.sh BUILD_DIRECTORY C++_COMPILER
set -euo pipefail
build=$1 compiler=$2
program=$(cd "$(dirname "$0")/program" && pwd)
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/itemdb-install-XXXXXX")
daemon=
finish() {
  if [[ -n $daemon ]]; then kill "$daemon" 2>/dev/null || true; wait "$daemon" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap finish EXIT
seconds() { # COMMAND...: runs it and prints the seconds it took.
  local start=$EPOCHREALTIME
  "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
  awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'
}

cmake --install "$build" --prefix "$work/first" >/dev/null
for file in share/man/man1/itemctl.1 share/man/man1/itemctl-batch-write.1 share/bash-completion/completions/itemctl \
  share/zsh/site-functions/_itemctl lib/sysusers.d/itemdb.conf etc/itemdb/itemd.toml share/itemdb/network.conf \
  share/itemdb/prometheus/itemdb-alerts.yml share/itemdb/grafana/itemdb-dashboard.json; do
  if [[ ! -s $work/first/$file ]]; then echo "$file is not installed" >&2; exit 1; fi
done
grep -q "^ExecStart=$work/first/bin/itemd$" "$work/first/lib/systemd/system/itemd.service"
# systemd applies RestartPreventExitStatus only to the exit code of the daemon itself. A failed ExecStartPre would be
# repeated, so there must be none.
if grep "^ExecStartPre=" "$work/first/lib/systemd/system/itemd.service" >&2; then exit 1; fi
# The exposure of the unit as installed, and with the drop-in.
if command -v systemd-analyze >/dev/null; then
  exposure() { # UNIT...: prints its exposure times ten.
    cat "$@" >"$work/exposure.service"
    systemd-analyze security --offline=true "$work/exposure.service" 2>/dev/null |
      sed -n 's/.*Overall exposure level.*: \([0-9]*\)\.\([0-9]\).*/\1\2/p'
  }
  closed=$(exposure "$work/first/lib/systemd/system/itemd.service")
  open=$(exposure "$work/first/lib/systemd/system/itemd.service" "$work/first/share/itemdb/network.conf")
  echo "exposure in tenths: $((10#$closed)) as installed, $((10#$open)) with network.conf"
  if ((10#$closed > 6 || 10#$open > 14)); then echo "the unit is too open" >&2; exit 1; fi
fi
# An existing configuration file is kept.
echo "# mine" >"$work/first/etc/itemdb/itemd.toml"
cmake --install "$build" --prefix "$work/first" >/dev/null
grep -qx "# mine" "$work/first/etc/itemdb/itemd.toml"
# Installed files must not depend on the first prefix.
mv "$work/first" "$work/prefix"
prefix=$work/prefix
libraries=$(dirname "$(find "$prefix" -name libitemdb_client.so)")
export LD_LIBRARY_PATH=$libraries

for library in libitemdb_client libitemdb_client_http libitemdb_order_entry; do
  cp --dereference "$libraries/$library.so" "$work/stripped.so"
  strip "$work/stripped.so"
  echo "$library.so, stripped: $(stat -c %s "$work/stripped.so") bytes"
  if (($(stat -c %s "$work/stripped.so") > 2 * 1024 * 1024)); then echo "that is more than 2 MiB" >&2; exit 1; fi
  foreign=$(nm -DC --defined-only "$work/stripped.so" | awk '$2 == "T"' | grep -vE ' (itemdb::|_init|_fini)' || true)
  if [[ -n $foreign ]]; then echo "it offers more than its own names: $foreign" >&2; exit 1; fi
  if nm -DC --defined-only "$work/stripped.so" | grep -E 'itemdb::v1::|itemdb::wire::'; then
    echo "its messages are to be hidden" >&2; exit 1
  fi
done
# The order-entry application is in its own library only, and that one offers nothing else.
names() { nm -DC --defined-only "$libraries/$1.so" | awk '$2 == "T"' | grep -E ' itemdb::'; }
if names libitemdb_client | grep itemdb::order_entry:: >&2; then echo "libitemdb_client.so has order_entry" >&2; exit 1; fi
if names libitemdb_order_entry | grep -v itemdb::order_entry:: >&2; then
  echo "libitemdb_order_entry.so has more than order_entry" >&2; exit 1
fi
if grep -rlE '#include [<"](grpc|google/protobuf)|pb\.h' "$prefix/include"; then
  echo "public headers are not to name gRPC or protobuf" >&2; exit 1
fi

echo "configured with CMake: $(seconds cmake -G Ninja -S "$program" -B "$work/by-cmake" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix") s"
echo "built with CMake: $(seconds cmake --build "$work/by-cmake") s"
export PKG_CONFIG_PATH=$libraries/pkgconfig
# shellcheck disable=SC2046  # The flags must be split into words.
echo "built with pkg-config: $(seconds "$compiler" -std=c++20 -O2 "$program/outside.cc" -o "$work/by-pkg-config" \
  $(pkg-config --cflags --libs itemdb-testing)) s"
# shellcheck disable=SC2046
echo "order entry built with pkg-config: $(seconds "$compiler" -std=c++20 -I "$examples" "$examples/order_entry/order_entry.cc" \
  "$examples"/shared/*.cc -o "$work/order-entry-by-pkg-config" $(pkg-config --cflags --libs itemdb-order-entry)) s"

seconds cmake -G Ninja -S "$examples" -B "$work/examples" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$prefix" \
  >/dev/null
echo "examples built with CMake, unoptimised: $(seconds cmake --build "$work/examples") s"

expect_hello() { # COMMAND...
  local said
  said=$("$@")
  if [[ $said != hello ]]; then echo "$* said \"$said\"" >&2; return 1; fi
}
# Several times, because the program ends immediately after its last future, when threads of the library still run.
for ((i = 0; i < 10; ++i)); do expect_hello "$work/by-cmake/outside"; done
# An older language setting is answered with one sentence, not with hundreds of errors.
if "$compiler" -std=c++17 -fsyntax-only "$program/outside.cc" $(pkg-config --cflags itemdb-testing) 2>"$work/c++17.txt"; then
  echo "a program of C++17 was compiled" >&2
  exit 1
fi
grep -q "itemdb's headers need C++20: compile with -std=c++20 or newer" "$work/c++17.txt"
test "$(grep -c 'error:' "$work/c++17.txt")" -le 2

expect_hello "$work/by-pkg-config"

mkdir "$work/data"
"$prefix/bin/itemd" --data-dir "$work/data" --listen 127.0.0.1:0 --http-listen 127.0.0.1:0 \
  --address-file "$work/address" 2>"$work/itemd.log" &
daemon=$!
for ((i = 0; i < 600; ++i)); do
  [[ -e $work/address ]] && break
  kill -0 "$daemon" 2>/dev/null || { cat "$work/itemd.log" >&2; exit 1; }
  sleep 0.1
done
endpoint=$(grep -o '127.0.0.1:[0-9]*' "$work/address" | head -1)
expect_hello "$work/by-cmake/outside" "$endpoint"
expect_hello "$work/by-cmake/outside" "http://$(grep -o '127.0.0.1:[0-9]*' "$work/address" | tail -1)" OverHttp
for program in examples/example_order_entry order-entry-by-pkg-config; do
  "$work/$program" "$endpoint" | grep -q "2025-11-15 ord_001 CLOSED"
done
"$prefix/bin/itemctl" --endpoint "$endpoint" item get Greeting '{"id": "world"}' | grep -q hello
echo "ran on the fake and on the installed itemd"
