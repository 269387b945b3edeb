// The C face of cv::DISOpticalFlow and of what GoCV does not bind. A mat is
// GoCV's pointer to a cv::Mat. Functions that return a char * return NULL, or
// what OpenCV said, to be freed by the caller; none lets an exception out.
#ifndef RETIME_FLOW_DIS_H
#define RETIME_FLOW_DIS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void *flow_mat;
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

// flow_dis_calc writes the flow from a to b, 8-bit luma, to flow, a
// width x height CV_32FC2. a and b are extended to that size by repeating their
// right and lower borders. If initial is set, flow holds the initial flow. If
// o->upsample is set, vectors come out in pixels of the upsampled pictures.
char *flow_dis_calc(flow_dis *d, const flow_dis_options *o, flow_mat a, flow_mat b,
                    int width, int height, int initial, flow_mat flow);

// flow_view makes m a header over 8-bit samples that m does not own, or empty if
// pix is NULL.
char *flow_view(flow_mat m, int width, int height, size_t stride, const uint8_t *pix);

char *flow_set_threads(int n);

#ifdef __cplusplus
}
#endif

#endif
