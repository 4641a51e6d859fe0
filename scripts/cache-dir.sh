#!/usr/bin/env bash
# Prints the absolute path of the folder that kgen keeps models and libraries in: $KGEN_CACHE, else kgen inside the
# user's cache folder as Go's os.UserCacheDir has it. Works without HOME: bash then takes the home from the user database.
set -euo pipefail

if [ -n "${KGEN_CACHE:-}" ]; then
  case "$KGEN_CACHE" in
  /* | [A-Za-z]:*) echo "$KGEN_CACHE" ;;
  *) echo "$PWD/$KGEN_CACHE" ;;
  esac
  exit
fi

home=~
case "$(uname -s)" in
Darwin) base=$home/Library/Caches ;;
MINGW* | MSYS* | CYGWIN*) base=${LOCALAPPDATA:-$home/AppData/Local} ;;
*) base=${XDG_CACHE_HOME:-$home/.cache} ;;
esac
case "$base" in
/* | [A-Za-z]:*) echo "$base/kgen" ;;
*)
  echo "no absolute cache folder ($base): set KGEN_CACHE" >&2
  exit 1
  ;;
esac
