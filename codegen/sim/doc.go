// Package sim runs compute kernels in WGSL without a GPU and says what is wrong with them.
package sim
