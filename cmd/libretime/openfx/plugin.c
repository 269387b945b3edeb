/*
 * The OpenFX plug-in of libretime, Retime: frames at any moment of a clip. docs/embedding.md describes
 * it; make openfx builds it.
 */
#include "samples.h"
#include <ofxImageEffect.h>
#include <ofxMessage.h>
#include <ofxParam.h>
#include <ofxProperty.h>
#include <stdio.h>

/* Moments are rounded to this share of the time from a picture to the next: the least that all of 2 to 10 divide. */
#define STEPS 2520

/* Longer clips have no length that counts. */
#define PICTURES_MAX (1 << 24)

static OfxHost *host;
static const OfxPropertySuiteV1 *props;
static const OfxImageEffectSuiteV1 *effects;
static const OfxParameterSuiteV1 *params;
static const OfxMessageSuiteV2 *messages; /* may be NULL */

/* An instance of the effect. A host renders one frame of it at a time. */
typedef struct instance {
	OfxImageEffectHandle effect;
	OfxImageClipHandle source, output;
	OfxParamHandle moment, speed, duration, preset, tune, floats; /* moment, or speed and duration, are NULL */
	retime_clip *clip;                                      /* NULL until a frame is rendered */
	key key;
	uint64_t *seen; /* hashes of the pictures that clip has seen, by number; 0 for none */
} instance;

static void say(instance *i, const char *why)
{
	if (messages != NULL)
		messages->setPersistentMessage(i->effect, kOfxMessageError, NULL, "%s", why);
}

static void close_clip(instance *i)
{
	retime_clip_close(i->clip);
	free(i->seen);
	i->clip = NULL;
	i->seen = NULL;
}

/* Opens a clip for k, unless it is open. Returns 0 after an error. */
static int open_clip(instance *i, const key *k, char *error, size_t size)
{
	retime_options o;
	if (i->clip != NULL && memcmp(&i->key, k, sizeof *k) == 0)
		return 1;
	close_clip(i);
	retime_options_default(&o);
	o.width = k->width;
	o.height = k->height;
	o.depth = k->depth;
	o.planes = k->planes;
	o.rgb = k->planes > 1;
	o.transfer = k->transfer;
	o.full_range = 1;
	o.preset = k->preset;
	o.tune = k->tune;
	o.rate_num = o.rate_den = o.slow_den = 1;
	o.slow_num = STEPS;
	i->key = *k;
	if ((i->seen = calloc((size_t)k->count, sizeof *i->seen)) == NULL)
		snprintf(error, size, "no memory");
	else
		i->clip = retime_clip_open(&o, k->count, error, size);
	return i->clip != NULL;
}

/* Sets the range of the source's pictures in k. Returns 0 if it is none. */
static int range(instance *i, key *k)
{
	OfxPropertySetHandle p;
	double at[2];
	if (effects->clipGetPropertySet(i->source, &p) != kOfxStatOK || props->propGetDoubleN(p, kOfxImageEffectPropFrameRange, 2, at) != kOfxStatOK)
		return 0;
	if (!(fabs(at[0]) < 1e9) || !(at[1] - at[0] >= 0) || !(at[1] - at[0] < PICTURES_MAX))
		return 0;
	k->first = (int64_t)ceil(at[0]);
	k->count = (int64_t)floor(at[1]) - k->first + 1;
	return k->count > 0;
}

/* Returns the number of the frame that the effect shows at a time, in STEPS after picture 0. */
static int64_t frame_at(instance *i, const key *k, double time)
{
	double at = 0, speed = 1, last = (double)(k->count - 1) * STEPS;
	if (i->moment != NULL) {
		params->paramGetValueAtTime(i->moment, time, &at);
		at -= (double)k->first;
	} else if (params->paramGetIntegral(i->speed, (double)k->first, time, &at) != kOfxStatOK) {
		params->paramGetValueAtTime(i->speed, time, &speed); /* the host does not integrate */
		at = speed * (time - (double)k->first);
	}
	at = floor(at * STEPS + 0.5);
	return (int64_t)(at > 0 ? at < last ? at : last : 0);
}

static int choice(OfxParamHandle param)
{
	int v = 0;
	params->paramGetValue(param, &v);
	return v;
}

/* Gets a picture or a frame of the host's. Returns what is wrong with it, or NULL. */
static const char *get_image(OfxImageClipHandle clip, double time, image *m)
{
	char *depth, *components;
	void *data;
	if (effects->clipGetImage(clip, time, NULL, &m->handle) != kOfxStatOK)
		return m->handle = NULL, "the host has no picture";
	if (props->propGetPointer(m->handle, kOfxImagePropData, 0, &data) != kOfxStatOK || data == NULL ||
		props->propGetInt(m->handle, kOfxImagePropRowBytes, 0, &m->row) != kOfxStatOK ||
		props->propGetIntN(m->handle, kOfxImagePropBounds, 4, m->bounds) != kOfxStatOK ||
		props->propGetString(m->handle, kOfxImageEffectPropPixelDepth, 0, &depth) != kOfxStatOK ||
		props->propGetString(m->handle, kOfxImageEffectPropComponents, 0, &components) != kOfxStatOK)
		return "the host does not describe a picture";
	m->data = data;
	m->components = strcmp(components, kOfxImageComponentRGBA) == 0 ? 4 : strcmp(components, kOfxImageComponentRGB) == 0 ? 3 : strcmp(components, kOfxImageComponentAlpha) == 0 ? 1 : 0;
	m->size = strcmp(depth, kOfxBitDepthByte) == 0 ? 1 : strcmp(depth, kOfxBitDepthShort) == 0 ? 2 : strcmp(depth, kOfxBitDepthFloat) == 0 ? 4 : 0;
	return m->components == 0 || m->size == 0 ? "want RGBA, RGB or alpha, in 8 or 16 bits or floats" : NULL;
}

/* Makes the frame in to, which the host shows at a time. Returns 0 after an error. */
static int make(instance *i, double time, const image *to, char *error, size_t size)
{
	key k = {0};
	image images[4] = {{0}};
	void *rooms[5] = {NULL};
	retime_picture pictures[5];
	retime_info info = {.version = RETIME_API_VERSION};
	uint64_t hashes[4];
	int64_t frame, first, last;
	int n, count, changed = 0, ok = 0;
	if (!range(i, &k)) {
		snprintf(error, size, "the source has no pictures, or no length");
		return 0;
	}
	k.width = to->bounds[2] - to->bounds[0];
	k.height = to->bounds[3] - to->bounds[1];
	k.depth = to->size == 1 ? 8 : 16;
	k.planes = to->components;
	k.preset = choice(i->preset);
	k.tune = choice(i->tune);
	k.transfer = to->size == 4 && to->components > 1 && choice(i->floats) == 0 ? RETIME_LIGHT : RETIME_SDR;
	frame = frame_at(i, &k, time);
	if (!open_clip(i, &k, error, size) || retime_clip_needs(i->clip, frame, &first, &last, error, size) != RETIME_OK)
		return 0;
	count = (int)(last - first + 1);
	for (n = 0; n < count; n++) {
		const char *why = get_image(i->source, (double)(k.first + first + n), &images[n]);
		if (why == NULL && (images[n].size != to->size || images[n].components != to->components))
			why = "the source has other samples than the output";
		if (why == NULL && (rooms[n] = allocate(&k, &pictures[n])) == NULL)
			why = "no memory";
		if (why != NULL) {
			snprintf(error, size, "%s", why);
			goto end;
		}
		hashes[n] = read_picture(&k, &images[n], to, &pictures[n]);
		changed |= i->seen[first + n] != 0 && i->seen[first + n] != hashes[n];
	}
	if (changed) { /* what was known of the pictures is not so any more */
		close_clip(i);
		if (!open_clip(i, &k, error, size))
			goto end;
	}
	memcpy(&i->seen[first], hashes, (size_t)count * sizeof *hashes);
	if ((rooms[4] = allocate(&k, &pictures[4])) == NULL) {
		snprintf(error, size, "no memory");
		goto end;
	}
	if (retime_clip_frame(i->clip, frame, pictures, count, &pictures[4], &info, error, size) != RETIME_OK)
		goto end;
	if (info.sources[0] == info.sources[1])
		copy_picture(&images[info.sources[0] - first], to);
	else
		write_frame(&k, to, &pictures[4]);
	ok = 1;
end:
	for (n = 0; n < 5; n++)
		free(rooms[n]);
	for (n = 0; n < 4; n++)
		if (images[n].handle != NULL)
			effects->clipReleaseImage(images[n].handle);
	return ok;
}

static OfxStatus render(instance *i, double time)
{
	OfxPropertySetHandle p;
	char *fields, error[256] = "";
	image to = {0};
	const char *why = NULL;
	int ok;
	if (effects->clipGetPropertySet(i->source, &p) == kOfxStatOK && props->propGetString(p, kOfxImageClipPropFieldOrder, 0, &fields) == kOfxStatOK && strcmp(fields, kOfxImageFieldNone) != 0)
		why = "the source is interlaced; deinterlace it first";
	else
		why = get_image(i->output, time, &to);
	ok = why == NULL && make(i, time, &to, error, sizeof error);
	if (to.handle != NULL)
		effects->clipReleaseImage(to.handle);
	if (!ok)
		say(i, why != NULL ? why : error);
	else if (messages != NULL)
		messages->clearPersistentMessage(i->effect);
	return ok ? kOfxStatOK : kOfxStatFailed;
}

/* Sets the strings of a property, which NULL ends. */
static void set_strings(OfxPropertySetHandle p, const char *name, const char *const *list)
{
	int i;
	for (i = 0; list[i] != NULL; i++)
		props->propSetString(p, name, i, list[i]);
}

static OfxStatus describe(OfxImageEffectHandle effect)
{
	static const char *const contexts[] = {kOfxImageEffectContextRetimer, kOfxImageEffectContextGeneral, NULL};
	static const char *const depths[] = {kOfxBitDepthByte, kOfxBitDepthShort, kOfxBitDepthFloat, NULL};
	OfxPropertySetHandle p;
	effects->getPropertySet(effect, &p);
	props->propSetString(p, kOfxPropLabel, 0, "Retime");
	props->propSetString(p, kOfxImageEffectPluginPropGrouping, 0, "Time");
	props->propSetString(p, kOfxPropPluginDescription, 0, "Pictures between pictures, by optical flow");
	set_strings(p, kOfxImageEffectPropSupportedContexts, contexts);
	set_strings(p, kOfxImageEffectPropSupportedPixelDepths, depths);
	props->propSetString(p, kOfxImageEffectPluginRenderThreadSafety, 0, kOfxImageEffectRenderInstanceSafe);
	props->propSetInt(p, kOfxImageEffectPluginPropHostFrameThreading, 0, 0); /* libretime has threads */
	props->propSetInt(p, kOfxImageEffectPropSupportsTiles, 0, 0);
	props->propSetInt(p, kOfxImageEffectPropSupportsMultiResolution, 0, 0);
	props->propSetInt(p, kOfxImageEffectPropTemporalClipAccess, 0, 1);
	return kOfxStatOK;
}

/* Defines a parameter and returns its properties. */
static OfxPropertySetHandle define(OfxParamSetHandle set, const char *type, const char *name, const char *hint)
{
	OfxPropertySetHandle p = NULL;
	params->paramDefine(set, type, name, &p);
	props->propSetString(p, kOfxPropLabel, 0, name);
	props->propSetString(p, kOfxParamPropHint, 0, hint);
	return p;
}

static void define_number(OfxParamSetHandle set, const char *name, const char *hint, double least, double most, int animates)
{
	OfxPropertySetHandle p = define(set, kOfxParamTypeDouble, name, hint);
	props->propSetDouble(p, kOfxParamPropDefault, 0, 1);
	props->propSetDouble(p, kOfxParamPropMin, 0, least);
	props->propSetDouble(p, kOfxParamPropMax, 0, most);
	props->propSetDouble(p, kOfxParamPropDisplayMin, 0, 0);
	props->propSetDouble(p, kOfxParamPropDisplayMax, 0, 10);
	props->propSetInt(p, kOfxParamPropAnimates, 0, animates);
}

static void define_choice(OfxParamSetHandle set, const char *name, const char *hint, const char *const *list)
{
	OfxPropertySetHandle p = define(set, kOfxParamTypeChoice, name, hint);
	set_strings(p, kOfxParamPropChoiceOption, list);
	props->propSetInt(p, kOfxParamPropAnimates, 0, 0);
}

static OfxStatus describe_in_context(OfxImageEffectHandle effect, const char *context)
{
	static const char *const components[] = {kOfxImageComponentRGBA, kOfxImageComponentRGB, kOfxImageComponentAlpha, NULL};
	static const char *const presets[] = {"balanced", "fast", "best", NULL}; /* as RETIME_BALANCED counts */
	static const char *const tunes[] = {"footage", "animation", NULL};      /* as RETIME_FOOTAGE counts */
	static const char *const floats[] = {"light", "signals from 0 to 1", NULL};
	OfxPropertySetHandle p;
	OfxParamSetHandle set;
	effects->clipDefine(effect, kOfxImageEffectSimpleSourceClipName, &p);
	set_strings(p, kOfxImageEffectPropSupportedComponents, components);
	props->propSetInt(p, kOfxImageEffectPropTemporalClipAccess, 0, 1);
	props->propSetInt(p, kOfxImageEffectPropSupportsTiles, 0, 0);
	effects->clipDefine(effect, kOfxImageEffectOutputClipName, &p);
	set_strings(p, kOfxImageEffectPropSupportedComponents, components);
	props->propSetInt(p, kOfxImageEffectPropSupportsTiles, 0, 0);
	effects->getParamSet(effect, &set);
	if (strcmp(context, kOfxImageEffectContextRetimer) == 0) {
		params->paramDefine(set, kOfxParamTypeDouble, kOfxImageEffectRetimerParamName, NULL);
	} else {
		define_number(set, "Speed", "How fast the clip plays; below 0 backward", -1000, 1000, 1);
		define_number(set, "Duration", "How many times longer it lasts", 0.001, 1000, 0);
	}
	define_choice(set, "Preset", "Cost against quality", presets);
	define_choice(set, "Tune", "What the pictures are: nothing is cross-faded of animation, and counters stay whole", tunes);
	define_choice(set, "Floats", "What floating-point samples stand for", floats);
	return kOfxStatOK;
}

static OfxStatus create(OfxImageEffectHandle effect, OfxPropertySetHandle p)
{
	OfxParamSetHandle set;
	instance *i = calloc(1, sizeof *i);
	if (i == NULL)
		return kOfxStatErrMemory;
	i->effect = effect;
	effects->getParamSet(effect, &set);
	effects->clipGetHandle(effect, kOfxImageEffectSimpleSourceClipName, &i->source, NULL);
	effects->clipGetHandle(effect, kOfxImageEffectOutputClipName, &i->output, NULL);
	if (params->paramGetHandle(set, kOfxImageEffectRetimerParamName, &i->moment, NULL) != kOfxStatOK) {
		i->moment = NULL;
		params->paramGetHandle(set, "Speed", &i->speed, NULL);
		params->paramGetHandle(set, "Duration", &i->duration, NULL);
	}
	params->paramGetHandle(set, "Preset", &i->preset, NULL);
	params->paramGetHandle(set, "Tune", &i->tune, NULL);
	params->paramGetHandle(set, "Floats", &i->floats, NULL);
	return props->propSetPointer(p, kOfxPropInstanceData, 0, i);
}

/* Actions that ask about an instance. */
static OfxStatus ask(instance *i, const char *action, OfxPropertySetHandle in, OfxPropertySetHandle out)
{
	key k;
	double time = 0, duration = 1;
	int64_t frame;
	if (!range(i, &k))
		return kOfxStatReplyDefault;
	if (strcmp(action, kOfxImageEffectActionGetTimeDomain) == 0) {
		if (i->duration == NULL)
			return kOfxStatReplyDefault;
		params->paramGetValue(i->duration, &duration);
		props->propSetDouble(out, kOfxImageEffectPropFrameRange, 0, (double)k.first);
		return props->propSetDouble(out, kOfxImageEffectPropFrameRange, 1, (double)k.first + ceil((double)k.count * duration) - 1);
	}
	props->propGetDouble(in, kOfxPropTime, 0, &time);
	frame = frame_at(i, &k, time);
	if (strcmp(action, kOfxImageEffectActionIsIdentity) == 0) {
		if (frame % STEPS != 0)
			return kOfxStatReplyDefault;
		props->propSetDouble(out, kOfxPropTime, 0, (double)(k.first + frame / STEPS));
		return props->propSetString(out, kOfxPropName, 0, kOfxImageEffectSimpleSourceClipName);
	}
	if (strcmp(action, kOfxImageEffectActionGetFramesNeeded) == 0) {
		double first = (double)(frame / STEPS), last = first;
		if (frame % STEPS != 0) { /* the two around it, and those beside them */
			first = fmax(first - 1, 0);
			last = fmin(last + 2, (double)(k.count - 1));
		}
		props->propSetDouble(out, "OfxImageClipPropFrameRange_" kOfxImageEffectSimpleSourceClipName, 0, (double)k.first + first);
		return props->propSetDouble(out, "OfxImageClipPropFrameRange_" kOfxImageEffectSimpleSourceClipName, 1, (double)k.first + last);
	}
	return kOfxStatReplyDefault;
}

static OfxStatus load(void)
{
	if (host == NULL)
		return kOfxStatErrMissingHostFeature;
	if (!fill_light())
		return kOfxStatErrMemory;
	props = host->fetchSuite(host->host, kOfxPropertySuite, 1);
	effects = host->fetchSuite(host->host, kOfxImageEffectSuite, 1);
	params = host->fetchSuite(host->host, kOfxParameterSuite, 1);
	messages = host->fetchSuite(host->host, kOfxMessageSuite, 2);
	return props != NULL && effects != NULL && params != NULL ? kOfxStatOK : kOfxStatErrMissingHostFeature;
}

static OfxStatus entry(const char *action, const void *handle, OfxPropertySetHandle in, OfxPropertySetHandle out)
{
	OfxImageEffectHandle effect = (OfxImageEffectHandle)(void *)(uintptr_t)handle;
	OfxPropertySetHandle p = NULL;
	instance *i = NULL;
	char *context;
	double time = 0;
	if (strcmp(action, kOfxActionLoad) == 0)
		return load();
	if (effect == NULL || effects == NULL)
		return kOfxStatReplyDefault;
	if (strcmp(action, kOfxActionDescribe) == 0)
		return describe(effect);
	if (strcmp(action, kOfxImageEffectActionDescribeInContext) == 0)
		return props->propGetString(in, kOfxImageEffectPropContext, 0, &context) == kOfxStatOK ? describe_in_context(effect, context) : kOfxStatFailed;
	effects->getPropertySet(effect, &p);
	if (strcmp(action, kOfxActionCreateInstance) == 0)
		return create(effect, p);
	if (props->propGetPointer(p, kOfxPropInstanceData, 0, (void **)&i) != kOfxStatOK || i == NULL)
		return kOfxStatReplyDefault;
	if (strcmp(action, kOfxActionDestroyInstance) == 0) {
		close_clip(i);
		free(i);
		return kOfxStatOK;
	}
	if (strcmp(action, kOfxActionPurgeCaches) == 0) {
		close_clip(i);
		return kOfxStatOK;
	}
	if (strcmp(action, kOfxImageEffectActionRender) == 0)
		return props->propGetDouble(in, kOfxPropTime, 0, &time) == kOfxStatOK ? render(i, time) : kOfxStatFailed;
	return ask(i, action, in, out);
}

static void set_host(OfxHost *h) { host = h; }

OfxExport int OfxGetNumberOfPlugins(void) { return 1; }

OfxExport OfxPlugin *OfxGetPlugin(int n)
{
	static OfxPlugin plugin = {kOfxImageEffectPluginApi, 1, "org.retime.retime", 0, 2, set_host, entry};
	return n == 0 ? &plugin : NULL;
}
