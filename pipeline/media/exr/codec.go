//go:build openexr

package exr

// #cgo CXXFLAGS: -std=c++17 -Wall -Wextra
// #cgo pkg-config: OpenEXR
// #include "codec.h"
// #include <stdlib.h>
import "C"

import (
	"bytes"
	"errors"
	"unsafe"
)

// Version returns the version of the OpenEXR that the program was built with, empty if with none.
func Version() string { return C.GoString(C.retime_exr_version()) }

func failure(code C.int, why *C.char) error {
	if code == 0 {
		return nil
	}
	defer C.free(unsafe.Pointer(why))
	return errors.New("OpenEXR: " + C.GoString(why))
}

func decode(file []byte, part int, planes []byte, threads int) error {
	var why *C.char
	code := C.retime_exr_decode((*C.uint8_t)(&file[0]), C.size_t(len(file)), C.int(part), (*C.uint8_t)(&planes[0]), C.size_t(len(planes)), C.int(threads), &why)
	return failure(code, why)
}

func (b *bundle) encode(model []byte, threads int) ([]byte, error) {
	var out *C.uint8_t
	var size C.size_t
	var why *C.char
	code := C.retime_exr_encode((*C.uint8_t)(&model[0]), C.size_t(len(model)), C.int(len(b.which)), (*C.int)(&b.which[0]), (*C.int32_t)(&b.windows[0]),
		(*C.uint8_t)(&b.samples[0]), C.size_t(len(b.samples)), (*C.uint64_t)(&b.offsets[0]), C.int(threads), &out, &size, &why)
	if err := failure(code, why); err != nil {
		return nil, err
	}
	defer C.free(unsafe.Pointer(out))
	return bytes.Clone(unsafe.Slice((*byte)(out), int(size))), nil
}
