//go:build cuda

package cuda

// Texture objects, which gorgonia.org/cu does not bind.

/*
#include <cuda.h>

static CUresult new_texture(CUarray *array, CUtexObject *object, CUdeviceptr src, size_t stride, size_t width, size_t height,
	int fractions, CUaddress_mode address, int linear, int normalized, void *stream) {
	CUDA_ARRAY_DESCRIPTOR format = {0};
	format.Width = width;
	format.Height = height;
	format.Format = fractions ? CU_AD_FORMAT_UNSIGNED_INT16 : CU_AD_FORMAT_FLOAT;
	format.NumChannels = fractions ? 4 : 1;
	CUresult r = cuArrayCreate(array, &format);
	if (r != CUDA_SUCCESS) return r;

	CUDA_MEMCPY2D copy = {0};
	copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
	copy.srcDevice = src;
	copy.srcPitch = stride;
	copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
	copy.dstArray = *array;
	copy.WidthInBytes = width * (fractions ? 8 : 4);
	copy.Height = height;
	r = cuMemcpy2DAsync(&copy, stream);
	if (r == CUDA_SUCCESS) {
		CUDA_RESOURCE_DESC resource = {0};
		resource.resType = CU_RESOURCE_TYPE_ARRAY;
		resource.res.array.hArray = *array;
		CUDA_TEXTURE_DESC texture = {0};
		texture.addressMode[0] = texture.addressMode[1] = texture.addressMode[2] = address;
		texture.filterMode = linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
		texture.flags = normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0;
		r = cuTexObjectCreate(object, &resource, &texture, 0);
	}
	if (r != CUDA_SUCCESS) cuArrayDestroy(*array);
	return r;
}
*/
import "C"

// nvidiaTexture is a texture object and the array that holds its texels.
type nvidiaTexture struct {
	array  C.CUarray
	object C.CUtexObject
}

var addressModes = map[AddressMode]C.CUaddress_mode{
	AddressClamp: C.CU_TR_ADDRESS_MODE_CLAMP, AddressBorder: C.CU_TR_ADDRESS_MODE_BORDER,
	AddressWrap: C.CU_TR_ADDRESS_MODE_WRAP, AddressMirror: C.CU_TR_ADDRESS_MODE_MIRROR,
}

func (n *nvidia) NewTexture(stream any, l TextureLayout, src uintptr, stride int) (any, uint64, error) {
	t := new(nvidiaTexture)
	flag := map[bool]C.int{true: 1}
	err := result("cuTexObjectCreate", C.new_texture(&t.array, &t.object, C.CUdeviceptr(src), C.size_t(stride),
		C.size_t(l.Width), C.size_t(l.Height), flag[l.Texel == TexelFractions], addressModes[l.Address],
		flag[l.Linear], flag[l.Normalized], handle(stream.(*nvidiaStream).Stream)))
	return t, uint64(t.object), err
}

func (n *nvidia) DestroyTexture(texture any) error {
	t := texture.(*nvidiaTexture)
	err := result("cuTexObjectDestroy", C.cuTexObjectDestroy(t.object))
	if e := result("cuArrayDestroy", C.cuArrayDestroy(t.array)); err == nil {
		err = e
	}
	return err
}
