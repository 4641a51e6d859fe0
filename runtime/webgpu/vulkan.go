//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import "runtime"

// VulkanLoader returns the name of the library through which drivers are found, and why it can't be loaded. Where WebGPU
// libraries go another way, as on macOS, the name is empty.
func VulkanLoader() (string, error) {
	name := map[string]string{"linux": "libvulkan.so.1", "windows": "vulkan-1.dll"}[runtime.GOOS]
	if name == "" {
		return "", nil
	}
	_, err := dlopen(name)
	return name, err
}
