// The C face of OpenCV's cv::DISOpticalFlow and cv::calcOpticalFlowFarneback.
// Functions that return a char * return NULL, or what OpenCV said, to be freed
// by the caller; none lets an exception out.
#ifndef RETIME_FLOW_OPENCV_H
#define RETIME_FLOW_OPENCV_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// flow_opencv_version returns OpenCV's version, such as "4.6.0".
const char *flow_opencv_version(void);

// flow_opencv_build returns how OpenCV was built and, as its last line, the vector
// instructions that it has code for, those missing here marked by a "?".
const char *flow_opencv_build(void);

// flow_luma is 8-bit luma, rows stride bytes apart, read in place for the length
// of a call.
typedef struct {
	const uint8_t *pix;
	int width, height;
	size_t stride;
} flow_luma;

// flow_field is a flow, pairs of x and y in pixels without gaps between the
// rows. It is the estimator's and valid until its next call.
typedef struct {
	float *vectors;
	int width, height;
} flow_field;

typedef struct flow_dis flow_dis;

typedef struct {
	int finest_scale, patch_size, patch_stride;
	int gradient_descent_iterations, variational_refinement_iterations;
	float alpha, gamma, delta;
	int mean_normalization, spatial_propagation;
	int upsample;
} flow_dis_options;

char *flow_dis_new(flow_dis **out);
void flow_dis_free(flow_dis *d);

// flow_dis_initial returns the field that holds the initial flow of the next
// flow_dis_calc of that size, for the caller to fill.
char *flow_dis_initial(flow_dis *d, int width, int height, flow_field *initial);

// flow_dis_calc estimates the flow from a to b, which it extends to width x
// height by repeating their right and lower borders. If guided is set, it starts
// from the initial flow. If o->upsample is set, vectors come out in pixels of
// the upsampled pictures.
char *flow_dis_calc(flow_dis *d, const flow_dis_options *o, flow_luma a, flow_luma b,
                    int width, int height, int guided, flow_field *flow);

typedef struct flow_farneback flow_farneback;

typedef struct {
	double pyramid_scale;
	int levels, window_size, iterations, poly_n;
	double poly_sigma;
	int gaussian;
} flow_farneback_options;

char *flow_farneback_new(flow_farneback **out);
void flow_farneback_free(flow_farneback *e);

// flow_farneback_calc estimates the flow from a to b.
char *flow_farneback_calc(flow_farneback *e, const flow_farneback_options *o,
                          flow_luma a, flow_luma b, flow_field *flow);

char *flow_set_threads(int n);

#ifdef __cplusplus
}
#endif

#endif
