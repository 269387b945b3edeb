//go:build openexr

#include "codec.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfIO.h>
#include <ImfInputPart.h>
#include <ImfMultiPartInputFile.h>
#include <ImfMultiPartOutputFile.h>
#include <ImfOutputPart.h>
#include <ImfPartType.h>
#include <ImfThreading.h>
#include <OpenEXRConfig.h>

using namespace OPENEXR_IMF_NAMESPACE;
using IMATH_NAMESPACE::Box2i;
using IMATH_NAMESPACE::V2i;

namespace {

class Source : public IStream
{
public:
	Source(const uint8_t *data, size_t size) : IStream("memory"), data(data), length(size) {}
	bool read(char to[], int n) override
	{
		if (n < 0 || at > length || size_t(n) > length - at)
			throw std::runtime_error("the file ends early");
		std::memcpy(to, data + at, n);
		at += n;
		return at < length;
	}
	uint64_t tellg() override { return at; }
	void seekg(uint64_t to) override { at = to; }
	int64_t size() { return int64_t(length); } // which OpenEXR asks for from 3.3 on

private:
	const uint8_t *data;
	size_t length;
	uint64_t at = 0;
};

class Sink : public OStream
{
public:
	Sink() : OStream("memory") {}
	void write(const char from[], int n) override
	{
		if (at + n > data.size())
			data.resize(at + n);
		std::memcpy(data.data() + at, from, n);
		at += n;
	}
	uint64_t tellp() override { return at; }
	void seekp(uint64_t to) override { at = to; }

	std::vector<char> data;

private:
	uint64_t at = 0;
};

// frame returns where the samples of a header's channels are in planes, and sets size to what they take.
FrameBuffer frame(const Header &h, const uint8_t *planes, size_t &size)
{
	const Box2i &w = h.dataWindow();
	const size_t width = size_t(int64_t(w.max.x) - w.min.x + 1), height = size_t(int64_t(w.max.y) - w.min.y + 1);
	FrameBuffer all;
	size = 0;
	for (auto c = h.channels().begin(); c != h.channels().end(); ++c) {
		const size_t each = c.channel().type == HALF ? 2 : 4;
		all.insert(c.name(), Slice::Make(c.channel().type, planes + size, w, each, each * width));
		size += each * width * height;
	}
	return all;
}

// shared returns threads, which OpenEXR keeps for all files.
int shared(int threads)
{
	static std::mutex growing;
	const std::lock_guard<std::mutex> lock(growing);
	if (globalThreadCount() < threads)
		setGlobalThreadCount(threads);
	return threads;
}

// guarded returns 0, or 1 if f fails.
template <typename F> int guarded(char **why, F f)
{
	try {
		f();
		return 0;
	} catch (const std::exception &e) {
		*why = strdup(e.what());
	} catch (...) {
		*why = strdup("it failed");
	}
	return 1;
}

} // namespace

const char *retime_exr_version(void) { return OPENEXR_VERSION_STRING; }

int retime_exr_decode(const uint8_t *file, size_t size, int part, uint8_t *planes, size_t planes_size, int threads, char **why)
{
	return guarded(why, [&] {
		Source source(file, size);
		MultiPartInputFile in(source, shared(threads), false);
		InputPart p(in, part);
		size_t taken;
		const FrameBuffer all = frame(p.header(), planes, taken);
		if (taken != planes_size)
			throw std::runtime_error("the channels have another size");
		p.setFrameBuffer(all);
		p.readPixels(p.header().dataWindow().min.y, p.header().dataWindow().max.y);
	});
}

int retime_exr_encode(const uint8_t *model, size_t size, int parts, const int *which, const int32_t *windows,
	const uint8_t *planes, size_t planes_size, const uint64_t *offsets, int threads, uint8_t **out, size_t *out_size, char **why)
{
	return guarded(why, [&] {
		Source source(model, size);
		MultiPartInputFile in(source, 0, true);
		std::vector<Header> headers;
		for (int i = 0; i < parts; i++) {
			Header h = in.header(which[i]);
			const int32_t *w = windows + 4 * i;
			h.dataWindow() = Box2i(V2i(w[0], w[1]), V2i(w[2], w[3]));
			h.lineOrder() = INCREASING_Y;
			h.erase("tiles");
			h.erase("chunkCount");
			h.setType(SCANLINEIMAGE);
			headers.push_back(h);
		}
		Sink sink;
		{
			MultiPartOutputFile file(sink, headers.data(), parts, false, shared(threads));
			for (int i = 0; i < parts; i++) {
				OutputPart p(file, i);
				size_t taken;
				const Box2i &w = headers[i].dataWindow();
				const FrameBuffer all = frame(headers[i], planes + offsets[i], taken);
				if (offsets[i] > planes_size || taken > planes_size - offsets[i])
					throw std::runtime_error("the channels have another size");
				p.setFrameBuffer(all);
				p.writePixels(w.max.y - w.min.y + 1);
			}
		}
		*out = static_cast<uint8_t *>(std::malloc(sink.data.size()));
		if (!*out)
			throw std::bad_alloc();
		*out_size = sink.data.size();
		std::memcpy(*out, sink.data.data(), *out_size);
	});
}
