//go:build !noopencv

#include "opencv.h"

#include <cstring>
#include <opencv2/core.hpp>
#include <opencv2/core/utility.hpp>
#include <opencv2/video/tracking.hpp>
#include <stdexcept>

struct flow_dis {
	cv::Ptr<cv::DISOpticalFlow> dis;
	cv::Mat padded[2];
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

// prepare returns src in the form that DIS needs: of the given size, and without gaps between its rows. It copies
// only if it must.
static cv::Mat prepare(const cv::Mat &src, cv::Size size, cv::Mat &padded) {
	if (src.size() != size) {
		cv::copyMakeBorder(src, padded, 0, size.height - src.rows, 0, size.width - src.cols,
		                   cv::BORDER_REPLICATE | cv::BORDER_ISOLATED);
		return padded;
	}
	if (!src.isContinuous()) {
		src.copyTo(padded);
		return padded;
	}
	return src;
}

// configure sets what suits frame interpolation. Variational refinement is left out: a finer grid of patches gives
// as much in half the time.
static void configure(cv::DISOpticalFlow &dis) {
	dis.setFinestScale(0);
	dis.setPatchSize(8);
	dis.setPatchStride(4);
	dis.setGradientDescentIterations(12);
	dis.setVariationalRefinementIterations(0);
	dis.setUseMeanNormalization(true);
	dis.setUseSpatialPropagation(true);
}

char *flow_dis_new(flow_dis **out) {
	return guarded([&] { *out = new flow_dis{cv::DISOpticalFlow::create(), {}}; });
}

void flow_dis_free(flow_dis *d) { delete d; }

char *flow_dis_calc(flow_dis *d, flow_luma a, flow_luma b, int width, int height, flow_mat flow, flow_field *field) {
	return guarded([&] {
		cv::Size size(width, height);
		cv::Mat first = prepare(view(a), size, d->padded[0]);
		cv::Mat second = prepare(view(b), size, d->padded[1]);
		configure(*d->dis);
		mat(flow).release(); // DIS starts from any flow of the right size that it finds there
		d->dis->calc(first, second, mat(flow));
		if (d->dis->getFinestScale() != 0 || d->dis->getPatchSize() != 8)
			throw std::logic_error("the pyramid had no room for the parameters and OpenCV chose others");
		*field = view(mat(flow));
	});
}

char *flow_farneback(flow_luma a, flow_luma b, flow_mat flow, flow_field *field) {
	return guarded([&] { // with the defaults of cv::FarnebackOpticalFlow
		cv::calcOpticalFlowFarneback(view(a), view(b), mat(flow), 0.5, 5, 13, 10, 5, 1.1, 0);
		*field = view(mat(flow));
	});
}

char *flow_set_threads(int n) {
	return guarded([&] { cv::setNumThreads(n); });
}
