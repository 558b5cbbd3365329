#!/bin/sh
# Runs a compiler through ccache: ccache.sh CCACHE ROOT COMPILER ARGUMENT...
# ROOT is the root of the repository; paths below it are hashed relative to the build folder, so that one clone
# finds what another one compiled.
ccache=$1
export CCACHE_BASEDIR="$2"
shift 2
export CCACHE_NOHASHDIR=1
# Files that use a precompiled header are cached only with these two relaxations.
export CCACHE_SLOPPINESS=pch_defines,time_macros
previous=
dependencies=
for argument; do
  case "$previous $argument" in
    # Clang would read a precompiled header of before while it makes it anew. With gcc ccache would take it for
    # one that is used: it would look for the new one by the bytes of the old one, and find what another change of
    # the same header gave.
    "-o "*.pch | "-o "*.gch) rm -f "$argument" ;;
    "-MF "*) dependencies=$argument ;;
    # ccache does not see changes in files whose paths begin with /proc, so it must always preprocess.
    *" -working-directory="*) export CCACHE_NODIRECT=1 ;;
  esac
  previous=$argument
done
"$ccache" "$@" || exit
# ninja knows generated headers by their paths in the build folder.
[ -z "$dependencies" ] || sed -i 's|/proc/self/cwd/||g' "$dependencies"
