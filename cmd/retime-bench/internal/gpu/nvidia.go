//go:build cuda

package gpu

/*
#cgo CFLAGS: -I/usr/local/cuda/include
#include <cuda.h>

// new_texture makes a texture object, which gorgonia.org/cu does not bind.
static CUresult new_texture(CUarray *array, CUtexObject *object, const void *src, size_t width, size_t height, size_t depth) {
	CUDA_ARRAY3D_DESCRIPTOR format = {0};
	format.Width = width;
	format.Height = height;
	format.Depth = depth;
	format.Format = CU_AD_FORMAT_FLOAT;
	format.NumChannels = 1;
	CUresult r = cuArray3DCreate(array, &format);
	if (r != CUDA_SUCCESS) return r;

	CUDA_MEMCPY3D copy = {0};
	copy.srcMemoryType = CU_MEMORYTYPE_HOST;
	copy.srcHost = src;
	copy.srcPitch = 4 * width;
	copy.srcHeight = height;
	copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
	copy.dstArray = *array;
	copy.WidthInBytes = 4 * width;
	copy.Height = height;
	copy.Depth = depth > 0 ? depth : 1;
	r = cuMemcpy3D(&copy);
	// The copy from pageable memory may still be on its way, and other streams do not
	// wait for it.
	if (r == CUDA_SUCCESS) r = cuStreamSynchronize(0);
	if (r == CUDA_SUCCESS) {
		CUDA_RESOURCE_DESC resource = {0};
		resource.resType = CU_RESOURCE_TYPE_ARRAY;
		resource.res.array.hArray = *array;
		CUDA_TEXTURE_DESC texture = {0};
		texture.addressMode[0] = texture.addressMode[1] = texture.addressMode[2] = CU_TR_ADDRESS_MODE_CLAMP;
		texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
		r = cuTexObjectCreate(object, &resource, &texture, 0);
	}
	if (r != CUDA_SUCCESS) cuArrayDestroy(*array);
	return r;
}

static const char *error_name(CUresult r) {
	const char *s = 0;
	return cuGetErrorString(r, &s) == CUDA_SUCCESS ? s : "unknown error";
}
*/
import "C"

import (
	"embed"
	"errors"
	"io/fs"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"retime/cuda"
)

// fatbins holds the kernels of this package, one file for each kernels/MODULE.cu.
//
//go:embed fatbin/*.fatbin
var fatbins embed.FS

// nvidia is package cuda's driver, extended with the kernels of this package and with textures.
type nvidia struct {
	cuda.Driver

	mu     sync.Mutex
	loaded map[string]cu.Module
}

func openDriver(ordinal int) (Driver, error) {
	d, err := cuda.OpenDriver(ordinal)
	if err != nil {
		return nil, err
	}
	return &nvidia{Driver: d, loaded: map[string]cu.Module{}}, nil
}

func (n *nvidia) Load(module string) error {
	_, err := n.module(module)
	if errors.Is(err, fs.ErrNotExist) {
		return n.Driver.Load(module)
	}
	return err
}

func (n *nvidia) Kernel(module, name string) (any, error) {
	m, err := n.module(module)
	if errors.Is(err, fs.ErrNotExist) {
		return n.Driver.Kernel(module, name)
	}
	if err != nil {
		return nil, err
	}
	f, err := m.Function(name)
	if err != nil {
		return nil, &cuda.Error{Call: "cuModuleGetFunction", Err: err}
	}
	return f, nil
}

// module loads a module of this package's kernels.
func (n *nvidia) module(name string) (cu.Module, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if m, ok := n.loaded[name]; ok {
		return m, nil
	}
	image, err := fatbins.ReadFile("fatbin/" + name + ".fatbin")
	if err != nil {
		return cu.Module{}, err
	}
	m, err := cu.LoadData(string(image))
	if err != nil {
		return m, &cuda.Error{Call: "cuModuleLoadData", Err: err}
	}
	n.loaded[name] = m
	return m, nil
}

// nvidiaTexture is a texture object and the array that holds its texels.
type nvidiaTexture struct {
	array  C.CUarray
	object C.CUtexObject
}

func (n *nvidia) NewTexture(l TextureLayout, texels unsafe.Pointer) (any, uint64, error) {
	t := new(nvidiaTexture)
	err := result("cuTexObjectCreate", C.new_texture(&t.array, &t.object, texels,
		C.size_t(l.Width), C.size_t(l.Height), C.size_t(l.Depth)))
	return t, uint64(t.object), err
}

func (n *nvidia) DestroyTexture(texture any) error {
	t := texture.(*nvidiaTexture)
	return errors.Join(result("cuTexObjectDestroy", C.cuTexObjectDestroy(t.object)),
		result("cuArrayDestroy", C.cuArrayDestroy(t.array)))
}

// result turns a driver's result code into an error.
func result(call string, r C.CUresult) error {
	if r == C.CUDA_SUCCESS {
		return nil
	}
	return &cuda.Error{Call: call, Err: errors.New(C.GoString(C.error_name(r)))}
}
