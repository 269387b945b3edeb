/*
 * The samples of the OpenFX plug-in: the host's pictures as libretime's, and its frames as the host's.
 */
#include <libretime.h>
#include <ofxCore.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a libretime clip is opened for. There is no padding, so that memcmp compares two. */
typedef struct key {
	int64_t first, count; /* time of the first picture, and how many there are */
	int width, height, depth, planes, transfer, preset, tune, zero;
} key;
_Static_assert(sizeof(key) == 2 * sizeof(int64_t) + 8 * sizeof(int), "padding in key");

/* A picture or a frame of the host's, whose rows go up. */
typedef struct image {
	OfxPropertySetHandle handle;
	char *data; /* pixel at the bounds' lower left */
	int row;    /* bytes from row to row, which may be negative */
	int bounds[4], components;
	size_t size; /* bytes of a sample: 1 and 2 for integers, 4 for floats */
} image;

/*
 * Floats are light, with 1 for white, which libretime takes as 16-bit signals of PQ. value is the light of
 * each signal, and guess, by the upper 16 bits of a float, the last signal with no more light than any
 * float with these bits.
 */
static struct {
	float value[65536];
	uint16_t guess[32769];
} *light;

/* The EOTF of SMPTE ST 2084, as a share of its peak. */
static double pq_luminance(double signal)
{
	double p = pow(signal, 1 / (2523. / 4096 * 128)), d = p - 3424. / 4096;
	return pow((d > 0 ? d : 0) / (2413. / 4096 * 32 - 2392. / 4096 * 32 * p), 1 / (2610. / 16384));
}

/* Fills light so that the signal nearest to the 203 cd/m² of ITU-R BT.2408 stands for exactly 1. Returns 0 if memory is short. */
static int fill_light(void)
{
	const double top = 65535;
	int white = 0, at = 0;
	uint32_t i;
	double unit;
	if (light != NULL || (light = malloc(sizeof *light)) == NULL)
		return light != NULL;
	while (pq_luminance((white + 0.5) / top) * 10000 < 203)
		white++;
	unit = pq_luminance(white / top);
	for (i = 0; i < 65536; i++)
		light->value[i] = (float)(pq_luminance(i / top) / unit);
	for (i = 0; i < 32769; i++) {
		uint32_t bits = i << 16;
		float v;
		memcpy(&v, &bits, sizeof v);
		while (at < 65535 && light->value[at + 1] <= v)
			at++;
		light->guess[i] = (uint16_t)at;
	}
	return 1;
}

/* Returns the signal whose light is nearest; 0 for light below 0 and what is no number. */
static uint16_t signal_of(float v)
{
	const float *value = light->value;
	uint32_t bits;
	int low, high;
	if (!(v > 0))
		return 0;
	if (v >= value[65535])
		return 65535;
	memcpy(&bits, &v, sizeof bits);
	low = light->guess[bits >> 16];
	high = light->guess[(bits >> 16) + 1] + 1;
	while (high - low > 1) {
		int middle = (low + high) / 2;
		if (value[middle] <= v)
			low = middle;
		else
			high = middle;
	}
	return (uint16_t)(low + (value[low + 1] - v < v - value[low]));
}

static uint16_t share_of(float v) { return v >= 1 ? 65535 : v > 0 ? (uint16_t)(v * 65535 + 0.5f) : 0; }

/* Returns the pixel of m at x, y, or NULL outside its bounds. */
static char *pixel(const image *m, int x, int y)
{
	if (x < m->bounds[0] || x >= m->bounds[2] || y < m->bounds[1] || y >= m->bounds[3])
		return NULL;
	return m->data + (ptrdiff_t)(y - m->bounds[1]) * m->row + (ptrdiff_t)(x - m->bounds[0]) * (ptrdiff_t)m->size * m->components;
}

/* Returns the component of a pixel that a plane has: they are green, blue, red and alpha. */
static int component(const image *m, int plane) { return m->components == 1 || plane == 3 ? plane : (plane + 1) % 3; }

/* Allocates a picture for the samples of the frame to, each plane after the other, with rows that go down. */
static void *allocate(const key *k, retime_picture *p)
{
	size_t stride = ((size_t)k->width * (k->depth > 8 ? 2 : 1) + 7) / 8 * 8, plane = stride * (size_t)k->height;
	char *room = calloc((size_t)k->planes, plane);
	int i;
	memset(p, 0, sizeof *p);
	p->version = RETIME_API_VERSION;
	for (i = 0; i < k->planes; i++) {
		p->planes[i] = room + (size_t)i * plane;
		p->stride[i] = (ptrdiff_t)stride;
	}
	return room;
}

/* Fills p with the samples of m where it overlaps the frame to; elsewhere they are 0. Returns their hash, FNV-1a of words, not 0. */
static uint64_t read_picture(const key *k, const image *m, const image *to, retime_picture *p)
{
	uint64_t hash = 14695981039346656037u;
	int plane, x, y;
	for (plane = 0; plane < k->planes; plane++) {
		uint16_t (*round)(float) = k->transfer == RETIME_LIGHT ? signal_of : share_of;
		size_t at = (size_t)component(m, plane) * m->size;
		for (y = 0; y < k->height; y++) {
			char *row = (char *)p->planes[plane] + y * p->stride[plane];
			const uint64_t *word = (const uint64_t *)(void *)row, *end = (const uint64_t *)(void *)(row + p->stride[plane]);
			for (x = 0; x < k->width; x++) {
				const char *from = pixel(m, to->bounds[0] + x, to->bounds[3] - 1 - y);
				if (from == NULL)
					continue;
				if (m->size == 1)
					row[x] = from[at];
				else
					((uint16_t *)(void *)row)[x] = m->size == 2 ? *(const uint16_t *)(const void *)(from + at) : round(*(const float *)(const void *)(from + at));
			}
			while (word < end)
				hash = (hash ^ *word++) * 1099511628211u;
		}
	}
	return hash | 1;
}

/* The inverse for a frame, which is made from p. */
static void write_frame(const key *k, const image *to, const retime_picture *p)
{
	int plane, x, y;
	for (plane = 0; plane < k->planes; plane++) {
		int lit = k->transfer == RETIME_LIGHT;
		uint16_t whole = lit ? signal_of(1) : 65535; /* alpha, which made frames exceed in places */
		size_t at = (size_t)component(to, plane) * to->size;
		for (y = 0; y < k->height; y++) {
			const char *row = (const char *)p->planes[plane] + y * p->stride[plane];
			for (x = 0; x < k->width; x++) {
				char *pix = pixel(to, to->bounds[0] + x, to->bounds[3] - 1 - y) + at;
				if (to->size == 1) {
					*pix = row[x];
				} else {
					uint16_t v = ((const uint16_t *)(const void *)row)[x];
					if (to->size == 2)
						*(uint16_t *)(void *)pix = v;
					else
						*(float *)(void *)pix = plane == 3 && v >= whole ? 1 : lit ? light->value[v] : (float)v / 65535;
				}
			}
		}
	}
}

/* Copies a picture that is shown as it is, floats with all digits. */
static void copy_picture(const image *from, const image *to)
{
	size_t size = to->size * (size_t)to->components;
	int x, y;
	for (y = to->bounds[1]; y < to->bounds[3]; y++)
		for (x = to->bounds[0]; x < to->bounds[2]; x++) {
			const char *p = pixel(from, x, y);
			if (p != NULL)
				memcpy(pixel(to, x, y), p, size);
			else
				memset(pixel(to, x, y), 0, size);
		}
}
