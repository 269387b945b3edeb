// This header declares, in C, functions that GoCV does not bind or does not guard
// against exceptions: cv::DISOpticalFlow, cv::calcOpticalFlowFarneback and the settings
// of the process. Functions that return a char * return NULL or OpenCV's message, which
// the caller frees. No exception leaves a function.
#ifndef RETIME_FLOW_OPENCV_H
#define RETIME_FLOW_OPENCV_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// flow_opencv_version returns OpenCV's version, such as "4.6.0".
const char *flow_opencv_version(void);

// flow_opencv_build returns OpenCV's description of its build. The last line lists the vector
// instructions that OpenCV has code for; a "?" marks the ones that this processor lacks.
const char *flow_opencv_build(void);

// flow_luma describes 8-bit luma with rows stride bytes apart. A function reads it in
// place and keeps no pointer to it: GoCV has no Mat with a stride, and C may not keep
// pointers to Go's memory between calls.
typedef struct {
	const uint8_t *pix;
	int width, height;
	size_t stride;
} flow_luma;

// flow_mat is the pointer that a GoCV Mat holds, a cv::Mat *.
typedef void *flow_mat;

// flow_field describes the vectors of a Mat: pairs of x and y in pixels, without gaps
// between the rows. It is valid until a function changes or frees the Mat. GoCV's own
// view counts bytes in an int, which overflows beyond 2 GiB.
typedef struct {
	float *vectors;
	int width, height;
} flow_field;

typedef struct flow_dis flow_dis;

char *flow_dis_new(flow_dis **out);
void flow_dis_free(flow_dis *d);

// flow_dis_calc extends a and b to width x height by repeating their right and lower
// borders, estimates the flow between them and stores it in flow.
char *flow_dis_calc(flow_dis *d, flow_luma a, flow_luma b, int width, int height, flow_mat flow, flow_field *field);

// flow_farneback estimates the flow from a to b and stores it in flow. GoCV's binding
// of the same function has no guard: an exception, such as OpenCV's when it runs out of
// memory, would abort the process.
char *flow_farneback(flow_luma a, flow_luma b, flow_mat flow, flow_field *field);

char *flow_set_threads(int n);

#ifdef __cplusplus
}
#endif

#endif
