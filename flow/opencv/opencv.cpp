//go:build !noopencv

#include "opencv.h"

#include <cstring>
#include <opencv2/core.hpp>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/video/tracking.hpp>
#include <stdexcept>

// cv::DISOpticalFlow keeps an initial flow for all later calls, whatever their size, so
// calls with an initial flow use an algorithm object of their own.
struct flow_dis {
	cv::Ptr<cv::DISOpticalFlow> plain, guided;
	cv::Mat padded[2], upsampled[2], upsampled_flow;
};

const char *flow_opencv_version(void) {
	static const std::string version = cv::getVersionString();
	return version.c_str();
}

const char *flow_opencv_build(void) {
	static const std::string build = cv::getBuildInformation() + cv::getCPUFeaturesLine();
	return build.c_str();
}

template <class F> static char *guarded(F f) {
	try {
		f();
		return nullptr;
	} catch (const std::exception &e) {
		return strdup(e.what());
	} catch (...) {
		return strdup("unknown C++ exception");
	}
}

// view returns a header over the samples of m.
static cv::Mat view(flow_luma m) {
	return cv::Mat(m.height, m.width, CV_8UC1, const_cast<uint8_t *>(m.pix), m.stride);
}

static cv::Mat &mat(flow_mat m) { return *static_cast<cv::Mat *>(m); }

static flow_field view(cv::Mat &m) {
	CV_Assert(m.type() == CV_32FC2 && m.isContinuous());
	return flow_field{m.ptr<float>(), m.cols, m.rows};
}

// prepare returns src in the form that DIS needs: of the given size, upsampled if
// upsample is set, and without gaps between its rows. It copies only if it must.
static cv::Mat prepare(const cv::Mat &src, cv::Size size, bool upsample, cv::Mat &padded, cv::Mat &upsampled) {
	cv::Mat m = src;
	if (m.size() != size) {
		cv::copyMakeBorder(m, padded, 0, size.height - m.rows, 0, size.width - m.cols,
		                   cv::BORDER_REPLICATE | cv::BORDER_ISOLATED);
		m = padded;
	}
	if (upsample) {
		cv::resize(m, upsampled, size * 2, 0, 0, cv::INTER_CUBIC);
		return upsampled;
	}
	if (!m.isContinuous()) {
		m.copyTo(padded);
		return padded;
	}
	return m;
}

static void configure(cv::DISOpticalFlow &dis, const flow_dis_options &o) {
	dis.setFinestScale(o.finest_scale);
	dis.setPatchSize(o.patch_size);
	dis.setPatchStride(o.patch_stride);
	dis.setGradientDescentIterations(o.gradient_descent_iterations);
	dis.setVariationalRefinementIterations(o.variational_refinement_iterations);
	dis.setVariationalRefinementAlpha(o.alpha);
	dis.setVariationalRefinementGamma(o.gamma);
	dis.setVariationalRefinementDelta(o.delta);
	dis.setUseMeanNormalization(o.mean_normalization != 0);
	dis.setUseSpatialPropagation(o.spatial_propagation != 0);
}

char *flow_dis_new(flow_dis **out) {
	return guarded([&] {
		*out = new flow_dis{cv::DISOpticalFlow::create(), cv::DISOpticalFlow::create(), {}, {}, {}};
	});
}

void flow_dis_free(flow_dis *d) { delete d; }

char *flow_dis_calc(flow_dis *d, const flow_dis_options *o, flow_luma a, flow_luma b,
                    int width, int height, int guided, flow_mat flow, flow_field *field) {
	return guarded([&] {
		cv::Size size(width, height);
		cv::Mat first = prepare(view(a), size, o->upsample, d->padded[0], d->upsampled[0]);
		cv::Mat second = prepare(view(b), size, o->upsample, d->padded[1], d->upsampled[1]);
		cv::DISOpticalFlow &dis = guided ? *d->guided : *d->plain;
		configure(dis, *o);
		cv::Mat &result = o->upsample ? d->upsampled_flow : mat(flow);
		if (!guided)
			result.release(); // otherwise DIS starts from any flow of the right size that it finds there
		else if (o->upsample)
			cv::resize(mat(flow) * 2, result, size * 2, 0, 0, cv::INTER_LINEAR);
		dis.calc(first, second, result);
		if (dis.getFinestScale() != o->finest_scale || dis.getPatchSize() != o->patch_size)
			throw std::logic_error("the pyramid had no room for the parameters and OpenCV chose others");
		if (o->upsample)
			cv::resize(result, mat(flow), size, 0, 0, cv::INTER_AREA);
		*field = view(mat(flow));
	});
}

char *flow_farneback(const flow_farneback_options *o, flow_luma a, flow_luma b,
                     flow_mat flow, flow_field *field) {
	return guarded([&] {
		cv::calcOpticalFlowFarneback(view(a), view(b), mat(flow), o->pyramid_scale, o->levels, o->window_size,
		                             o->iterations, o->poly_n, o->poly_sigma,
		                             o->gaussian ? cv::OPTFLOW_FARNEBACK_GAUSSIAN : 0);
		*field = view(mat(flow));
	});
}

char *flow_create(flow_mat m, int width, int height, flow_field *field) {
	return guarded([&] {
		mat(m).create(height, width, CV_32FC2);
		*field = view(mat(m));
	});
}

char *flow_set_threads(int n) {
	return guarded([&] { cv::setNumThreads(n); });
}
