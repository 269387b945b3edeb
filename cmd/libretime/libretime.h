/*
 * libretime makes the pictures between the pictures of a video: frame-rate conversion and slow
 * motion by optical flow, with the samples that the program retime makes. It needs the C library
 * alone. docs/embedding.md says what it does to a process, and what it promises.
 *
 * A clip gives any frame in any order, each from the one to four pictures around it. A stream takes
 * pictures one after the other and returns the frames in order. There is no global state: handles
 * are independent of each other.
 *
 * Functions that return int return RETIME_OK or an error, and then write a line of text for people
 * to error, at most error_size bytes with the final 0; error may be NULL.
 */
#ifndef LIBRETIME_H
#define LIBRETIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The version of the interface. A structure's first field says which version its caller was compiled
 * with; later versions of the library take the structures of earlier ones. Until 1 of retime itself,
 * versions may end.
 */
#define RETIME_API_VERSION 1

/* What functions return. */
enum {
	RETIME_OK = 0,
	RETIME_NONE = 1,     /* retime_stream_pull: no frame is ready; push another picture */
	RETIME_END = 2,      /* retime_stream_pull: no frame follows; retime_stream_push: none is wanted */
	RETIME_USAGE = -1,   /* the arguments make no sense, alone or together */
	RETIME_MEMORY = -2,  /* memory is short, or no device answers */
	RETIME_INTERNAL = -3 /* a defect in the library */
};

/* Cost against quality. */
enum { RETIME_BALANCED = 0, RETIME_FAST = 1, RETIME_BEST = 2 };

/* How frames are made. */
enum {
	RETIME_PROJECT = 0, /* along the motion, from both neighbours */
	RETIME_SPLAT = 1,   /* neighbours' pixels are moved forward, holes filled */
	RETIME_BLEND = 2,   /* cross-fade */
	RETIME_NEAREST = 3  /* the nearer picture */
};

/* What the pictures are. Animation is drawn or rendered: nothing is cross-faded, and counters stay whole. */
enum { RETIME_FOOTAGE = 0, RETIME_ANIMATION = 1 };

/* How samples stand for light. */
enum {
	RETIME_SDR = 0,
	RETIME_PQ = 1,
	RETIME_HLG = 2,
	RETIME_LIGHT = 3 /* signals of PQ, 16 bits, that stand for floating-point light, as OpenEXR's */
};

/* What makes a stream's frames, with the same samples. Builds without kernels have the CPU alone. */
enum {
	RETIME_CPU = 0,
	RETIME_ANY = 1, /* a CUDA device if one answers, else the CPU */
	RETIME_CUDA = 2 /* the first CUDA device */
};

/* What a frame is. */
enum {
	RETIME_AS_SHOT = 0, /* a picture, at its time */
	RETIME_MADE = 1,    /* made along the motion */
	RETIME_BLENDED = 2, /* the same, cross-faded where motion cannot be trusted; or by RETIME_BLEND */
	RETIME_HELD = 3,    /* the nearer picture, as nothing moves or no frame could be trusted */
	RETIME_CUT = 4      /* the nearer picture, as a scene begins between the two */
};

typedef struct retime_options {
	unsigned version; /* RETIME_API_VERSION; retime_options_default sets it */

	int width, height; /* of pictures in pixels, up to 32768 a side and 67108864 in all */
	int depth;         /* bits of a sample, 8 to 16; above 8 in the low bits of 16-bit words of the machine's order */
	int planes;        /* 1 grey, 2 grey and alpha, 3 colour, 4 colour and alpha */
	int chroma_x;      /* log2 of how much narrower than plane 0 planes 1 and 2 are, 0 to 2; sizes round up */
	int chroma_y;      /* the same for their height */
	int rgb;           /* 1 if the planes are green, blue, red, in this order; 0 for luma and chroma */
	int transfer;      /* RETIME_SDR, RETIME_PQ, RETIME_HLG, RETIME_LIGHT; motion is estimated on light */
	int full_range;    /* 1 if luma uses all values; it matters for PQ and HLG */

	int64_t rate_num, rate_den; /* pictures per second; must be set */
	int64_t out_num, out_den;   /* frames per second; 0, 0 for the pictures' rate */
	int64_t slow_num, slow_den; /* how many times longer it lasts, below 1 shorter; 0, 0 for 1 */

	/*
	 * The moments of all frames in place of a rate and a factor, ascending, in units of
	 * time_num/time_den seconds after the first picture; NULL for none. They are copied.
	 */
	const int64_t *times;
	int64_t times_count;
	int64_t time_num, time_den;

	int preset; /* RETIME_BALANCED, RETIME_FAST, RETIME_BEST */
	int mode;   /* RETIME_PROJECT, RETIME_SPLAT, RETIME_BLEND, RETIME_NEAREST */
	int tune;   /* RETIME_FOOTAGE, RETIME_ANIMATION; drop_repeats takes animation off twos, with RETIME_ANIMATION also in parts of pictures */

	double scene_threshold; /* score from which a scene begins, 0 to 1, above 1 for never; negative for the default */
	double blend_below;     /* confidence below which a frame is cross-faded where doubtful; negative for the default */
	double nearest_below;   /* confidence below which the nearer picture takes its place; negative for the default */

	int carry_overlays; /* 1 leaves out the search for things that lie still over a moving picture */
	int drop_repeats;   /* 1 leaves out pictures that repeat the one before; streams only */
	int threads;        /* that work at once; 0 for as many as there are processors */
	int device;         /* RETIME_CPU, RETIME_ANY, RETIME_CUDA; a clip takes the first two, and uses the CPU */
} retime_options;

/* The planes of a picture in memory of the caller, which is used during the call only. */
typedef struct retime_picture {
	unsigned version;    /* RETIME_API_VERSION */
	void *planes[4];     /* first samples; aligned to the size of a sample */
	ptrdiff_t stride[4]; /* bytes from row to row, positive, a multiple of the size of a sample */
} retime_picture;

typedef struct retime_info {
	unsigned version;   /* RETIME_API_VERSION */
	int kind;           /* RETIME_AS_SHOT to RETIME_CUT */
	int64_t number;     /* of the frame, from 0 */
	int64_t sources[2]; /* numbers of the pictures that it lies between, or twice that of the one that it is */
	double phase;       /* from 0 at the first of these to 1 at the second */
	double confidence;  /* from 0 to 1: 1 for a picture at its time, 0 for one in place of a frame */
} retime_info;

typedef struct retime_clip retime_clip;     /* any frame of a video of known length */
typedef struct retime_stream retime_stream; /* frames in order */

/* Functions are left out for the library's own source. */
#ifndef RETIME_TYPES_ONLY

/* The version of the library, such as "0.2.0". It stays valid. */
const char *retime_version(void);

/* The RETIME_API_VERSION that the library knows. */
unsigned retime_api_version(void);

/* Sets all fields of options to their defaults; size, format and rate are 0 and must be set. */
void retime_options_default(retime_options *options);

/* Opens a video of a number of pictures. Returns NULL after an error. */
retime_clip *retime_clip_open(const retime_options *options, int64_t pictures, char *error, size_t error_size);

/* How many frames there are, numbered from 0. */
int64_t retime_clip_frames(const retime_clip *clip);

/* Sets *first and *last to the numbers of the first and the last picture that a frame is made from. */
int retime_clip_needs(const retime_clip *clip, int64_t frame, int64_t *first, int64_t *last, char *error, size_t error_size);

/*
 * Makes a frame in dst. pictures are those that retime_clip_needs names, in order. The library
 * copies those that it does not have: a picture of one number must always be the same. Any number
 * of threads may call this for one clip at once. info may be NULL.
 */
int retime_clip_frame(retime_clip *clip, int64_t frame, const retime_picture *pictures, int count, const retime_picture *dst,
	retime_info *info, char *error, size_t error_size);

/* Frees a clip that no thread uses; NULL is none. */
void retime_clip_close(retime_clip *clip);

/* Opens a stream. Returns NULL after an error. */
retime_stream *retime_stream_open(const retime_options *options, char *error, size_t error_size);

/* Copies the next picture. Call retime_stream_pull after it until it returns RETIME_NONE: frames wait in memory. */
int retime_stream_push(retime_stream *stream, const retime_picture *picture, char *error, size_t error_size);

/* Says that no picture follows. */
void retime_stream_finish(retime_stream *stream);

/*
 * Copies the next frame to dst. Before retime_stream_finish it returns RETIME_NONE if no frame is
 * ready; after it, it waits, and returns RETIME_END after the last. info may be NULL.
 */
int retime_stream_pull(retime_stream *stream, const retime_picture *dst, retime_info *info, char *error, size_t error_size);

/* Ends the work of a stream that no thread uses, and frees it; NULL is none. */
void retime_stream_close(retime_stream *stream);

#endif

#ifdef __cplusplus
}
#endif

#endif
