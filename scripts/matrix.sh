#!/usr/bin/env bash
# Runs the tests of devices on the further cells of {wgpu-native, Dawn} x {lavapipe, SwiftShader}: scripts/matrix.sh
#
# `go test ./...` has run wgpu-native on the adapter that kgen takes by itself; its cell is left out where that is lavapipe. A cell is run in processes of its own, with
# KGEN_WEBGPU_LIB for the library and VK_DRIVER_FILES for the driver. A library that refuses a driver is told by name, with its
# own words; which refusals are expected is listed below, and any other is a failure. Set-up has to have brought everything.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."
export CGO_ENABLED=0 KGEN_REQUIRE=1 NODEVICE_SELECT=1
KGEN_CACHE=$("$here/cache-dir.sh")
export KGEN_CACHE

say() { echo "matrix: $*" >&2; }

# kgen runs the command of this checkout.
kgen() { go run ./cmd/kgen "$@"; }

if [ "$(uname -s)" != Linux ]; then
  say "Dawn and SwiftShader are for Linux alone; there are no further cells on $(uname -s)"
  exit
fi

# Mesa 22's lavapipe lacks what Dawn asks of a Vulkan driver.
expected_refusal() { [ "$1 $2" = "dawn lavapipe" ] && [[ "$3" == *"Vulkan shaderUniform*ArrayDynamicIndexing required"* ]]; }

# tests PACKAGE [FLAG...]: runs tests with what the environment chooses. -count=1, as go does not know that a driver's variables matter.
tests() {
  go test -count=1 -timeout 20m "$@"
}

# in_cell LIBRARY DRIVER: runs the tests of one cell.
in_cell() {
  local library=$1 driver=$2 file json report
  if [ "$driver" = lavapipe ] && [ -n "$user_driver" ]; then
    say "$library x $driver: not run, as VK_DRIVER_FILES or VK_ICD_FILENAMES chose another driver"
    return
  fi
  if ! file=$(kgen lib install "$library" --check --quiet | head -n 1 | sed 's/.*: //') || [ -z "$file" ]; then
    say "$library is missing: run make setup"
    return 1
  fi
  if ! json=$("$here/vulkan-driver.sh" "$driver"); then
    say "$driver is missing: run make setup"
    return 1
  fi
  local -x KGEN_WEBGPU_LIB=$file VK_DRIVER_FILES=$json VK_ICD_FILENAMES=$json
  if ! report=$(kgen doctor 2>&1); then
    if expected_refusal "$library" "$driver" "$report"; then
      say "$library x $driver: refused, as expected: $(grep -m 1 -o 'Vulkan .* required' <<<"$report")"
      return
    fi
    say "$library x $driver: not usable"
    echo "$report" >&2
    return 1
  fi
  say "$library x $driver: $(grep -m 1 '<- chosen' <<<"$report")"
  # Joined by &&: errexit is off in a function whose status is looked at. The other formats run on the adapter of `go test ./...` alone.
  local llama='(portable|subgroups)/llama-(f16|q8_0|q4_0|q4_1|rope3-f32|q4_k|q6_k)'
  tests ./runtime/webgpu && tests -run TestOnAdapter ./codegen/kernels &&
    tests -run '^(TestRandomPrograms|TestFunctions|TestLanguageOnDevices)$' ./codegen/sim &&
    tests -run "TestTinyModels/$llama\$/f32" . && tests -run "TestFastTinyModels/$llama\$" .
}

failed=0
user_driver=${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}
main=$(kgen doctor | grep '<- chosen' || true)
unset KGEN_ADAPTER
[[ "$main" == *llvmpipe* ]] || in_cell wgpu-native lavapipe || failed=1
in_cell wgpu-native swiftshader || failed=1
in_cell dawn lavapipe || failed=1
in_cell dawn swiftshader || failed=1
[ "$failed" = 0 ] || say "failed"
exit "$failed"
