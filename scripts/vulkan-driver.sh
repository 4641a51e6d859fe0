#!/usr/bin/env bash
# Prints the file that VK_DRIVER_FILES takes to choose a software Vulkan adapter: scripts/vulkan-driver.sh lavapipe|swiftshader
# Mesa's lavapipe is looked for in the folders that the Vulkan loader searches, SwiftShader where set-up puts it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

case "${1:-}" in
swiftshader) files=("$("$here/cache-dir.sh")/driver/swiftshader/vk_swiftshader_icd.json") ;;
lavapipe)
  files=()
  IFS=: read -ra dirs <<<"${XDG_CONFIG_DIRS:-/etc/xdg}:/etc:${XDG_DATA_HOME:-${HOME:-}/.local/share}:${XDG_DATA_DIRS:-/usr/local/share:/usr/share}"
  for dir in "${dirs[@]}"; do files+=("$dir"/vulkan/icd.d/lvp_icd*.json); done
  ;;
*)
  echo "usage: $0 lavapipe|swiftshader" >&2
  exit 2
  ;;
esac
for file in "${files[@]}"; do
  if [ -e "$file" ]; then
    echo "$file"
    exit
  fi
done
exit 1
