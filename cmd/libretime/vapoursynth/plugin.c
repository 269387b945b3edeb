/*
 * The VapourSynth plugin of libretime: core.retime.Fps, Slow and Interpolate. docs/embedding.md
 * describes the functions; make vapoursynth builds a wheel of it.
 */
#include <libretime.h>
#include <VapourSynth4.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A filter of one clip. */
typedef struct filter {
	VSNode *node;
	VSVideoInfo info; /* of the output */
	retime_options options;
	int64_t pictures;
	int64_t *times;    /* of options, or NULL */
	retime_clip *clip; /* for samples of SDR */
	retime_clip *lit;  /* for samples as the first picture says, which may be clip; NULL until it is seen */
	pthread_mutex_t of_lit;
} filter;

/* What the functions differ in. */
enum function { FPS, SLOW, INTERPOLATE };

/* Positions of Interpolate are counted in this share of a picture, as phases are. */
#define POSITION_ONE 65536

static void describe_planes(retime_picture *p, const VSVideoFormat *format, const VSFrame *f, VSFrame *writable, const VSAPI *vsapi)
{
	int i;
	memset(p, 0, sizeof *p);
	p->version = RETIME_API_VERSION;
	for (i = 0; i < format->numPlanes; i++) {
		/* VapourSynth has red first, libretime green. */
		int plane = format->colorFamily == cfRGB ? (i + 1) % 3 : i;
		p->planes[i] = writable ? vsapi->getWritePtr(writable, plane) : (void *)vsapi->getReadPtr(f, plane);
		p->stride[i] = vsapi->getStride(f, plane);
	}
}

/* Returns what is wrong with a picture, or NULL. */
static const char *refused(const VSMap *props, const VSAPI *vsapi)
{
	int unset;
	if (vsapi->mapGetInt(props, "_Combed", 0, &unset) > 0)
		return "is combed; remove combing or bring film's pictures back first";
	if (vsapi->mapGetInt(props, "_FieldBased", 0, &unset) > 0)
		return "is interlaced; deinterlace the clip first, or set _FieldBased to 0 if it is progressive";
	return NULL;
}

static void set_properties(const filter *d, VSMap *to, const VSMap *from, const retime_info *made, const VSAPI *vsapi)
{
	static const char *const kinds[] = {"as shot", "made", "blended", "held", "cut"};
	vsapi->copyMap(from, to);
	vsapi->mapSetInt(to, "_DurationNum", d->info.fpsDen, maReplace);
	vsapi->mapSetInt(to, "_DurationDen", d->info.fpsNum, maReplace);
	vsapi->mapSetFloat(to, "_AbsoluteTime", (double)made->number * d->info.fpsDen / d->info.fpsNum, maReplace);
	vsapi->mapSetData(to, "RetimeKind", kinds[made->kind], -1, dtUtf8, maReplace);
	vsapi->mapSetFloat(to, "RetimeConfidence", made->confidence, maReplace);
	if (made->kind != RETIME_AS_SHOT) { /* no scene begins or ends with a picture that stands between */
		vsapi->mapDeleteKey(to, "_SceneChangePrev");
		vsapi->mapDeleteKey(to, "_SceneChangeNext");
	}
}

static int64_t whole(const VSMap *in, const char *key, int64_t otherwise, const VSAPI *vsapi)
{
	int unset;
	int64_t v = vsapi->mapGetInt(in, key, 0, &unset);
	return unset ? otherwise : v;
}

/* Returns the clip for samples as the first picture says, which may be NULL if it is not known; or NULL and an error. */
static retime_clip *light(filter *d, const VSFrame *first, char *error, size_t size, const VSAPI *vsapi)
{
	retime_clip *clip;
	pthread_mutex_lock(&d->of_lit);
	if (d->lit == NULL && first != NULL) {
		const VSMap *props = vsapi->getFramePropertiesRO(first);
		int64_t transfer = whole(props, "_Transfer", 2, vsapi);
		retime_options o = d->options;
		o.transfer = transfer == 16 ? RETIME_PQ : transfer == 18 ? RETIME_HLG : RETIME_SDR;
		o.full_range = whole(props, "_Range", 0, vsapi) == 1 || whole(props, "_ColorRange", 1, vsapi) == 0;
		d->lit = o.transfer == RETIME_SDR ? d->clip : retime_clip_open(&o, d->pictures, error, size);
	}
	clip = d->lit;
	pthread_mutex_unlock(&d->of_lit);
	return clip;
}

static const VSFrame *VS_CC get_frame(int n, int reason, void *data, void **asked, VSFrameContext *context, VSCore *core, const VSAPI *vsapi)
{
	filter *d = data;
	const VSVideoFormat *format = &d->info.format;
	const VSFrame *frames[4], *first_picture;
	retime_clip *clip;
	retime_picture pictures[4], to;
	retime_info made;
	char error[512], text[640];
	const char *why = NULL;
	VSFrame *dst = NULL;
	int64_t first, last, bad = 0;
	int i, count, code;

	made.version = RETIME_API_VERSION;
	if (reason == arError)
		return NULL;
	if (retime_clip_needs(d->clip, n, &first, &last, error, sizeof error) != RETIME_OK) {
		vsapi->setFilterError(error, context);
		return NULL;
	}
	count = (int)(last - first + 1);
	if (reason == arInitial) {
		/* Not before, as mpv has no picture while a script is read. */
		if (light(d, NULL, NULL, 0, vsapi) == NULL) {
			*asked = d;
			vsapi->requestFrameFilter(0, d->node, context);
		}
		for (i = 0; i < count; i++)
			vsapi->requestFrameFilter((int)first + i, d->node, context);
		return NULL;
	}
	for (i = 0; i < count; i++) {
		const char *wrong;
		frames[i] = vsapi->getFrameFilter((int)first + i, d->node, context);
		describe_planes(&pictures[i], format, frames[i], NULL, vsapi);
		if ((wrong = refused(vsapi->getFramePropertiesRO(frames[i]), vsapi)) != NULL && why == NULL) {
			why = wrong;
			bad = first + i;
		}
	}
	first_picture = *asked ? vsapi->getFrameFilter(0, d->node, context) : NULL;
	clip = light(d, first_picture, error, sizeof error, vsapi);
	vsapi->freeFrame(first_picture);
	if (why != NULL) {
		snprintf(text, sizeof text, "retime: frame %lld %s", (long long)bad, why);
		vsapi->setFilterError(text, context);
	} else if (clip == NULL) {
		snprintf(text, sizeof text, "retime: %s", error);
		vsapi->setFilterError(text, context);
	} else {
		dst = vsapi->newVideoFrame(format, d->info.width, d->info.height, NULL, core);
		describe_planes(&to, format, dst, dst, vsapi);
		code = retime_clip_frame(clip, n, pictures, count, &to, &made, error, sizeof error);
		if (code == RETIME_OK) {
			int64_t like = made.sources[made.kind >= RETIME_HELD && made.phase >= 0.5];
			set_properties(d, vsapi->getFramePropertiesRW(dst), vsapi->getFramePropertiesRO(frames[like - first]), &made, vsapi);
		} else {
			snprintf(text, sizeof text, "retime: %s", error);
			vsapi->setFilterError(text, context);
			vsapi->freeFrame(dst);
			dst = NULL;
		}
	}
	for (i = 0; i < count; i++)
		vsapi->freeFrame(frames[i]);
	return dst;
}

static void VS_CC free_filter(void *data, VSCore *core, const VSAPI *vsapi)
{
	filter *d = data;
	(void)core;
	if (d->lit != d->clip)
		retime_clip_close(d->lit);
	retime_clip_close(d->clip);
	vsapi->freeNode(d->node);
	pthread_mutex_destroy(&d->of_lit);
	free(d->times);
	free(d);
}

/* Returns the number of a word of a list, 0 if it is not given, or -1. */
static int word(const VSMap *in, const char *key, const char *const *list, const VSAPI *vsapi)
{
	int unset, i;
	const char *s = vsapi->mapGetData(in, key, 0, &unset);
	if (unset)
		return 0;
	for (i = 0; list[i] != NULL; i++)
		if (strcmp(s, list[i]) == 0)
			return i;
	return -1;
}

static void number(double *to, const VSMap *in, const char *key, const VSAPI *vsapi)
{
	int unset;
	double v = vsapi->mapGetFloat(in, key, 0, &unset);
	if (!unset)
		*to = v;
}

static void VS_CC create(const VSMap *in, VSMap *out, void *data, VSCore *core, const VSAPI *vsapi)
{
	static const char *const presets[] = {"balanced", "fast", "best", NULL};
	static const char *const modes[] = {"project", "splat", "blend", "nearest", NULL};
	static const char *const tunes[] = {"footage", "animation", NULL};
	enum function function = (enum function)(intptr_t)data;
	VSNode *node = vsapi->mapGetNode(in, "clip", 0, NULL);
	const VSVideoInfo *vi = vsapi->getVideoInfo(node);
	const VSVideoFormat *format = &vi->format;
	VSFilterDependency dependency = {node, rpGeneral};
	VSCoreInfo core_info;
	retime_options o;
	int64_t *times = NULL, frames;
	char error[512] = "", text[640];
	filter *d = calloc(1, sizeof *d);

	retime_options_default(&o);
	if (d == NULL || format->colorFamily == cfUndefined || vi->width == 0) {
		snprintf(error, sizeof error, "want a clip of one format and size");
		goto fail;
	}
	if (format->sampleType != stInteger || format->bitsPerSample > 16) {
		snprintf(error, sizeof error, "want 8 to 16 bit integer samples; convert the clip, as by resize.Point(format=vs.RGB48)");
		goto fail;
	}
	if (vi->fpsNum <= 0 || vi->fpsDen <= 0) {
		snprintf(error, sizeof error, "the clip has no constant rate; give it one with std.AssumeFPS");
		goto fail;
	}
	if ((o.preset = word(in, "preset", presets, vsapi)) < 0 || (o.mode = word(in, "mode", modes, vsapi)) < 0) {
		snprintf(error, sizeof error, "preset is fast, balanced or best; mode is project, splat, blend or nearest");
		goto fail;
	}
	if ((o.tune = word(in, "tune", tunes, vsapi)) < 0) {
		snprintf(error, sizeof error, "tune is footage or animation");
		goto fail;
	}
	vsapi->getCoreInfo(core, &core_info);
	o.width = vi->width;
	o.height = vi->height;
	o.depth = format->bitsPerSample;
	o.planes = format->numPlanes;
	o.chroma_x = format->subSamplingW;
	o.chroma_y = format->subSamplingH;
	o.rgb = format->colorFamily == cfRGB;
	o.rate_num = vi->fpsNum;
	o.rate_den = vi->fpsDen;
	o.threads = (int)whole(in, "threads", core_info.numThreads, vsapi);
	o.carry_overlays = whole(in, "overlays", 1, vsapi) == 0;
	number(&o.scene_threshold, in, "scene_threshold", vsapi);
	number(&o.blend_below, in, "blend_below", vsapi);
	number(&o.nearest_below, in, "nearest_below", vsapi);

	d->info = *vi;
	if (function == FPS) {
		o.out_num = whole(in, "num", 0, vsapi);
		o.out_den = whole(in, "den", 1, vsapi);
		d->info.fpsNum = o.out_num;
		d->info.fpsDen = o.out_den;
	} else if (function == SLOW) {
		o.slow_num = whole(in, "num", 0, vsapi);
		o.slow_den = whole(in, "den", 1, vsapi);
		d->info.fpsNum = o.out_num = whole(in, "fps_num", vi->fpsNum, vsapi);
		d->info.fpsDen = o.out_den = whole(in, "fps_den", o.out_num == vi->fpsNum ? vi->fpsDen : 1, vsapi);
	} else {
		int i, count = vsapi->mapNumElements(in, "times");
		const double *at = vsapi->mapGetFloatArray(in, "times", NULL);
		if (count < 1 || (times = malloc(count * sizeof *times)) == NULL) {
			snprintf(error, sizeof error, "times are empty");
			goto fail;
		}
		for (i = 0; i < count; i++) {
			if (!(at[i] >= 0 && at[i] < vi->numFrames)) {
				snprintf(error, sizeof error, "time %g lies outside the clip's %d pictures", at[i], vi->numFrames);
				goto fail;
			}
			times[i] = (int64_t)(at[i] * POSITION_ONE + 0.5);
		}
		o.times = times;
		o.times_count = count;
		o.time_num = vi->fpsDen;
		o.time_den = vi->fpsNum * POSITION_ONE;
	}
	d->options = o;
	d->pictures = vi->numFrames;
	if ((d->clip = retime_clip_open(&o, vi->numFrames, error, sizeof error)) == NULL)
		goto fail;
	frames = retime_clip_frames(d->clip);
	if (frames > INT32_MAX) {
		snprintf(error, sizeof error, "the result has too many frames");
		goto fail;
	}
	d->node = node;
	d->info.numFrames = (int)frames;
	if (function != INTERPOLATE) { /* as VapourSynth wants rates */
		int64_t a = d->info.fpsNum, b = d->info.fpsDen, r;
		while ((r = a % b) != 0) {
			a = b;
			b = r;
		}
		d->info.fpsNum /= b;
		d->info.fpsDen /= b;
	}
	d->times = times;
	pthread_mutex_init(&d->of_lit, NULL);
	vsapi->createVideoFilter(out, "retime", &d->info, get_frame, free_filter, fmParallel, &dependency, 1, d, core);
	return;

fail:
	snprintf(text, sizeof text, "retime: %s", error);
	vsapi->mapSetError(out, text);
	if (d != NULL)
		retime_clip_close(d->clip);
	vsapi->freeNode(node);
	free(times);
	free(d);
}

#define HOW "preset:data:opt;mode:data:opt;tune:data:opt;scene_threshold:float:opt;blend_below:float:opt;nearest_below:float:opt;overlays:int:opt;threads:int:opt;"

VS_EXTERNAL_API(void) VapourSynthPluginInit2(VSPlugin *plugin, const VSPLUGINAPI *vspapi)
{
	vspapi->configPlugin("org.retime.retime", "retime", "Pictures between pictures, by optical flow", VS_MAKE_VERSION(0, 2), VAPOURSYNTH_API_VERSION, 0, plugin);
	vspapi->registerFunction("Fps", "clip:vnode;num:int;den:int:opt;" HOW, "clip:vnode;", create, (void *)(intptr_t)FPS, plugin);
	vspapi->registerFunction("Slow", "clip:vnode;num:int;den:int:opt;fps_num:int:opt;fps_den:int:opt;" HOW, "clip:vnode;", create, (void *)(intptr_t)SLOW, plugin);
	vspapi->registerFunction("Interpolate", "clip:vnode;times:float[];" HOW, "clip:vnode;", create, (void *)(intptr_t)INTERPOLATE, plugin);
}
