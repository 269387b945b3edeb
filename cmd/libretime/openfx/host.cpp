/*
 * A host of OpenFX for the test of the plug-in, from the classes of the OpenFX project's host support and of
 * its demonstration host:
 *
 *     host CONTEXT WIDTH HEIGHT PICTURES DEPTH PRESET[t] MOMENT... <pictures >frames
 *
 * CONTEXT is Retimer, and the moments are source times, from 1 at the first picture; or General, and the
 * first is the speed and the others are times of the output. DEPTH is Byte, Short, Float, or Signal for floats
 * that are no light. A t after PRESET tunes to animation. Pictures and frames are RGBA, from the top down. Moments
 * after "changed" are of pictures whose samples are inverted, and after "interlaced" of interlaced ones.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "ofxCore.h"
#include "ofxImageEffect.h"
#include "ofxPixels.h"

#include "ofxhBinary.h"
#include "ofxhPropertySuite.h"
#include "ofxhClip.h"
#include "ofxhParam.h"
#include "ofxhMemory.h"
#include "ofxhImageEffect.h"
#include "ofxhPluginAPICache.h"
#include "ofxhPluginCache.h"
#include "ofxhHost.h"
#include "ofxhImageEffectAPI.h"

#include "hostDemoHostDescriptor.h"
#include "hostDemoEffectInstance.h"
#include "hostDemoClipInstance.h"
#include "hostDemoParamInstance.h"

using namespace OFX::Host;

static int width, height, pictures, sampleSize;
static std::string depth;
static std::vector<unsigned char> source, frame; // bottom up
static double moment, speed = 1;
static int preset, tune, floats;
static std::string fields = kOfxImageFieldNone;

static void check(bool ok, const std::string &what)
{
	if (!ok) {
		std::cerr << "host: " << what << "\n";
		exit(1);
	}
}

static size_t bytes() { return size_t(width) * height * 4 * sampleSize; }

// A picture of the source, from 1 on, or the output's frame, whose rows lie in the other order.
struct TestImage : ImageEffect::Image {
	TestImage(ImageEffect::ClipInstance &clip, unsigned char *data, int row) : ImageEffect::Image(clip)
	{
		setDoubleProperty(kOfxImageEffectPropRenderScale, 1, 0);
		setDoubleProperty(kOfxImageEffectPropRenderScale, 1, 1);
		setPointerProperty(kOfxImagePropData, data);
		const int bounds[4] = {-3, 5, width - 3, height + 5};
		for (int i = 0; i < 4; i++) {
			setIntProperty(kOfxImagePropBounds, bounds[i], i);
			setIntProperty(kOfxImagePropRegionOfDefinition, bounds[i], i);
		}
		setIntProperty(kOfxImagePropRowBytes, row);
	}
};

struct TestClip : MyHost::MyClipInstance {
	TestClip(MyHost::MyEffectInstance *effect, ImageEffect::ClipDescriptor *d) : MyClipInstance(effect, d) {}
	const std::string &getUnmappedBitDepth() const { return depth; }
	const std::string &getFieldOrder() const { return fields; }
	double getAspectRatio() const { return 1; }
	void getFrameRange(double &first, double &last) const { first = 1, last = pictures; }
	OfxRectD getRegionOfDefinition(OfxTime) const { return OfxRectD{-3, 5, double(width - 3), double(height + 5)}; }
	ImageEffect::Image *getImage(OfxTime time, const OfxRectD *)
	{
		const int row = width * 4 * sampleSize;
		if (isOutput())
			return new TestImage(*this, frame.data(), row);
		int n = int(time) - 1;
		check(n >= 0 && n < pictures && time == n + 1, "asked for picture " + std::to_string(time));
		return new TestImage(*this, source.data() + (n + 1) * bytes() - row, -row);
	}
};

struct TestDouble : MyHost::MyDoubleInstance {
	const double &value;
	TestDouble(MyHost::MyEffectInstance *effect, const std::string &name, Param::Descriptor &d, const double &v)
		: MyDoubleInstance(effect, name, d), value(v) {}
	OfxStatus get(double &v) { return v = value, kOfxStatOK; }
	OfxStatus get(OfxTime, double &v) { return v = value, kOfxStatOK; }
	OfxStatus integrate(OfxTime from, OfxTime to, double &v) { return v = value * (to - from), kOfxStatOK; }
};

struct TestChoice : MyHost::MyChoiceInstance {
	const int value;
	TestChoice(MyHost::MyEffectInstance *effect, const std::string &name, Param::Descriptor &d, int v)
		: MyChoiceInstance(effect, name, d), value(v) {}
	OfxStatus get(int &v) { return v = value, kOfxStatOK; }
	OfxStatus get(OfxTime, int &v) { return v = value, kOfxStatOK; }
};

struct TestEffect : MyHost::MyEffectInstance {
	using MyEffectInstance::MyEffectInstance;
	ImageEffect::ClipInstance *newClipInstance(ImageEffect::Instance *, ImageEffect::ClipDescriptor *d, int) { return new TestClip(this, d); }
	Param::Instance *newParam(const std::string &name, Param::Descriptor &d)
	{
		static const double two = 2;
		if (d.getType() == kOfxParamTypeDouble)
			return new TestDouble(this, name, d, name == kOfxImageEffectRetimerParamName ? moment : name == "Speed" ? speed : two);
		if (d.getType() == kOfxParamTypeChoice)
			return new TestChoice(this, name, d, name == "Preset" ? preset : name == "Tune" ? tune : floats);
		return MyEffectInstance::newParam(name, d);
	}
	void getProjectSize(double &x, double &y) const { x = width, y = height; }
	void getProjectOffset(double &x, double &y) const { x = -3, y = 5; }
	double getProjectPixelAspectRatio() const { return 1; }
	double getEffectDuration() const { return pictures; }
	OfxStatus vmessage(const char *, const char *, const char *format, va_list args) { return vfprintf(stderr, format, args), kOfxStatOK; }
};

struct TestHost : MyHost::Host {
	TestHost()
	{
		_properties.setStringProperty(kOfxImageEffectPropSupportedContexts, kOfxImageEffectContextRetimer, 4);
		_properties.setStringProperty(kOfxImageEffectPropSupportedPixelDepths, depth, 0);
	}
	ImageEffect::Instance *newInstance(void *, ImageEffect::ImageEffectPlugin *plugin, ImageEffect::Descriptor &d, const std::string &context)
	{
		return new TestEffect(plugin, d, context);
	}
};

int main(int argc, char **argv)
{
	check(argc > 7, "arguments are missing");
	const std::string context = std::string("OfxImageEffectContext") + argv[1];
	const bool retimer = context == kOfxImageEffectContextRetimer;
	width = atoi(argv[2]), height = atoi(argv[3]), pictures = atoi(argv[4]), preset = atoi(argv[6]);
	tune = std::string(argv[6]).back() == 't';
	floats = argv[5] == std::string("Signal");
	depth = floats ? kOfxBitDepthFloat : std::string("OfxBitDepth") + argv[5];
	sampleSize = depth == kOfxBitDepthByte ? 1 : depth == kOfxBitDepthShort ? 2 : 4;
	frame.resize(bytes());
	source.resize(bytes() * pictures);
	check(fread(source.data(), 1, source.size(), stdin) == source.size(), "pictures are missing");

	TestHost host;
	ImageEffect::PluginCache cache(host);
	PluginCache *plugins = PluginCache::getPluginCache();
	plugins->setCacheVersion("test");
	cache.registerInCache(*plugins);
	plugins->scanPluginFiles();
	ImageEffect::ImageEffectPlugin *plugin = cache.getPluginById("org.retime.retime");
	check(plugin, "no plug-in; OFX_PLUGIN_PATH names its directory");
	check(plugin->getContexts().count(context), "it does not know the context");
	std::unique_ptr<ImageEffect::Instance> effect(plugin->createInstance(context, NULL));
	check(effect && effect->createInstanceAction() != kOfxStatFailed && effect->getClipPreferences(), "no instance");
	OfxRangeD range;
	check(retimer || (effect->getTimeDomainAction(range) == kOfxStatOK && range.min == 1 && range.max == 2 * pictures), "another range than twice the pictures");

	const OfxPointD scale = {1, 1};
	const OfxRectI window = {-3, 5, width - 3, height + 5};
	for (int i = 7; i < argc; i++) {
		const std::string word = argv[i];
		if (word == "changed" || word == "interlaced") {
			for (unsigned char &v : source)
				v = ~v;
			fields = word == "changed" ? kOfxImageFieldNone : kOfxImageFieldLower;
			continue;
		}
		double time = atof(argv[i]);
		if (!retimer && i == 7) {
			speed = time;
			continue;
		}
		if (retimer)
			moment = time, time = i;
		const double shown = std::min(retimer ? moment : 1 + speed * (time - 1), double(pictures));
		ImageEffect::RangeMap needed;
		check(effect->getFrameNeededAction(time, needed) == kOfxStatOK, "it does not say what it needs");
		for (auto &n : needed)
			check(n.second.size() == 1 && n.second[0].min <= shown && n.second[0].max >= shown, "it does not need the pictures around a moment");
		OfxTime same = time;
		std::string clip;
		const bool whole = effect->isIdentityAction(same, kOfxImageFieldNone, window, scale, clip) == kOfxStatOK;
		check(whole == (shown == double(int(shown))) && (!whole || (same == shown && clip == kOfxImageEffectSimpleSourceClipName)), "another frame is a picture");
		frame.assign(frame.size(), 77);
		const OfxStatus status = effect->renderAction(time, kOfxImageFieldNone, window, scale, true, false, false);
		check(status == kOfxStatOK, "it makes no frame");
		for (int y = height - 1; y >= 0; y--)
			fwrite(frame.data() + size_t(y) * width * 4 * sampleSize, 1, size_t(width) * 4 * sampleSize, stdout);
	}
	effect.reset();
	PluginCache::clearPluginCache();
	return 0;
}
