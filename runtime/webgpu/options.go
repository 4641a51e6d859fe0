package webgpu

// Options says which library and adapter to use. The zero value takes both from the environment or else the best found.
type Options struct {
	// Library is the file of a WebGPU library; if it can't be used there is no second choice. Empty means
	// KGEN_WEBGPU_LIB, treated alike, and then a search: see Find.
	Library string
	// Adapter selects adapters by index or by part of the name, upper and lower case alike. Empty means KGEN_ADAPTER.
	Adapter string
	// Checked keeps the bounds checks of kernels that are proved in bounds. KGEN_GPU_CHECKS=1 does the same.
	Checked bool
	// Log gets a line about each choice and each trouble that is not an error. It may be nil.
	Log func(message string)
}

// SetupHint is the line that errors end with when the library or a driver is missing.
const SetupHint = "`kgen lib install` gets the library (so does pip install --no-deps --target ~/.cache/kgen/lib/py wgpu==0.32.0), apt install mesa-vulkan-drivers a software adapter; in a clone of kgen, `make setup` gets both; `kgen doctor` tells more"
