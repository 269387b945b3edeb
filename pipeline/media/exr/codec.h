// What package exr asks of OpenEXR. Functions that fail return 1, with the reason in *why, which the
// caller frees. They have further threads, 0 for none.
#ifndef RETIME_EXR_CODEC_H
#define RETIME_EXR_CODEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// retime_exr_version returns OpenEXR's version.
const char *retime_exr_version(void);

// retime_exr_decode decodes a flat part of a file, with one sample for each pixel in each channel, at its
// largest level. planes, of size bytes, receives the channels in the file's order, each without gaps.
int retime_exr_decode(const uint8_t *file, size_t size, int part, uint8_t *planes, size_t planes_size, int threads, char **why);

// retime_exr_encode encodes parts, as scan lines, with the headers of the parts of the file model that which
// names. windows has four numbers for each part, and planes, of planes_size bytes, their channels as
// retime_exr_decode leaves them, from offsets on. The caller frees *out.
int retime_exr_encode(const uint8_t *model, size_t size, int parts, const int *which, const int32_t *windows,
	const uint8_t *planes, size_t planes_size, const uint64_t *offsets, int threads, uint8_t **out, size_t *out_size, char **why);

#ifdef __cplusplus
}
#endif

#endif
