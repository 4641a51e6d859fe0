// Package libraries knows the WebGPU libraries that kgen can fetch, and installs them into the cache.
//
// Vocabulary:
//
//   - A library is a WebGPU implementation in one version. All lists them.
//   - A source is a project of the Python package index that holds a build of it. A library has several; each
//     is pinned by its own hashes, as two builds of one version are two files.
//   - A wheel is the archive of a source for one platform. One library file is taken out of it; no Python code is.
//
// Install fetches a wheel, or takes one that is there, and holds it and the file inside to their hashes:
//
//	library, err := libraries.Lookup("wgpu-native")
//	done, err := libraries.Install(ctx, libraries.Options{Library: library, Folder: cache + "/lib"})
//
// What a folder holds is all or nothing: a library is made in a temporary folder beside its final name, written through
// to the disk, and renamed.
//
// Dawn is a special case. The one current build that a package index offers is part of a Python extension, so that a small C file,
// dawn/stub.c, has to be compiled to open it without Python.
//
// The pip of scripts/setup.sh gets the same wheels: a test keeps its requirements equal to the table here.
package libraries
