//go:build unix

// Package kernels holds the CUDA kernels of package gpu, and an emulator that runs them on the CPU.
// The kernels share headers with the product's kernels in cuda/kernels.
package kernels

/*
#cgo CXXFLAGS: -std=c++14 -O2 -Wall -Wno-unused-function -Wno-unknown-pragmas -I${SRCDIR}/../../../../../cuda/kernels
#include <stdlib.h>
#include "emulator_texture.h"
*/
import "C"

import (
	"embed"
	"unsafe"

	"retime/cmd/retime-bench/internal/gpu"
	"retime/cuda/kernels"
)

//go:generate go run ../../../../../cuda/kernels/generate -emulator emulator_texture.h -include ../../../../../cuda/kernels

// Sources are the files of the kernels. Embedding them makes the Go tool rebuild the
// emulator when one of them changes.
//
//go:embed *.cu *.cuh
var Sources embed.FS

// Emulator is the emulator of retime/cuda/kernels, with textures added.
type Emulator struct{ *kernels.Emulator }

// NewEmulator returns an emulator with the same memory sizes as retime/cuda/kernels's.
func NewEmulator() *Emulator { return &Emulator{kernels.NewEmulator()} }

// NewTexture copies the texels to a texture.
func (e *Emulator) NewTexture(l gpu.TextureLayout, texels unsafe.Pointer) (any, uint64, error) {
	t := (*C.retime_texture)(C.calloc(1, C.sizeof_retime_texture))
	n := l.Width * l.Height * max(l.Depth, 1)
	t.texels = (*C.float)(C.malloc(C.size_t(4 * n)))
	t.width, t.height, t.depth = C.int(l.Width), C.int(l.Height), C.int(max(l.Depth, 1))
	copy(unsafe.Slice((*float32)(unsafe.Pointer(t.texels)), n), unsafe.Slice((*float32)(texels), n))
	return t, uint64(uintptr(unsafe.Pointer(t))), nil
}

// DestroyTexture frees a texture.
func (e *Emulator) DestroyTexture(texture any) error {
	t := texture.(*C.retime_texture)
	C.free(unsafe.Pointer(t.texels))
	C.free(unsafe.Pointer(t))
	return nil
}
