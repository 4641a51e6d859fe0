// Package gpu opens a WebGPU adapter for tests, or skips them where there is none. Only tests import it.
package gpu
