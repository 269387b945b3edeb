/*
 * Doubles the frame rate of a grey, raw video of 8 bits by the VapourSynth plugin, without Python:
 * vapoursynth CORE PLUGIN WIDTH HEIGHT <in >out
 * CORE is VapourSynth's library. For Windows, where no vspipe without Python is to be had.
 */
#include <VapourSynth4.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

static const VSAPI *api;
static unsigned char *shot;
static VSVideoInfo info = {.fpsNum = 24, .fpsDen = 1};

static void check(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "vapoursynth: %s\n", what);
		exit(1);
	}
}

static const VSFrame *VS_CC picture(int n, int reason, void *data, void **unused, VSFrameContext *context, VSCore *core, const VSAPI *vsapi)
{
	VSFrame *f;
	int y;
	(void)data, (void)unused, (void)context;
	if (reason != arInitial)
		return NULL;
	f = vsapi->newVideoFrame(&info.format, info.width, info.height, NULL, core);
	for (y = 0; y < info.height; y++)
		memcpy(vsapi->getWritePtr(f, 0) + y * vsapi->getStride(f, 0), shot + ((size_t)n * info.height + y) * info.width, info.width);
	return f;
}

static void *entry(const char *core)
{
	HMODULE library = LoadLibraryA(core);
	FARPROC at;
	void *function;
	check(library != NULL, "cannot load the core");
	check((at = GetProcAddress(library, "getVapourSynthAPI")) != NULL, "the core has no getVapourSynthAPI");
	memcpy(&function, &at, sizeof function);
	return function;
}

/* Calls a function of a plugin, and returns what it says. */
static VSMap *call(VSPlugin *plugin, const char *name, VSMap *in)
{
	VSMap *out = api->invoke(plugin, name, in);
	check(api->mapGetError(out) == NULL, api->mapGetError(out));
	return out;
}

int main(int argc, char **argv)
{
	const VSAPI *(VS_CC *get)(int);
	VSCore *core;
	VSMap *in;
	VSNode *clip;
	size_t size, got = 0;
	int n, y;
	check(argc == 5, "vapoursynth CORE PLUGIN WIDTH HEIGHT <in >out");
	_setmode(0, _O_BINARY);
	_setmode(1, _O_BINARY);
	info.width = atoi(argv[3]);
	info.height = atoi(argv[4]);
	size = (size_t)info.width * info.height;
	while (check((shot = realloc(shot, (info.numFrames + 1) * size)) != NULL, "no memory"), (got = fread(shot + info.numFrames * size, 1, size, stdin)) == size)
		info.numFrames++;
	check(got == 0, "the file is cut short");

	*(void **)&get = entry(argv[1]);
	check((api = get(VAPOURSYNTH_API_VERSION)) != NULL, "the core does not know this interface");
	core = api->createCore(ccfDisableAutoLoading);
	in = api->createMap();
	api->mapSetData(in, "path", argv[2], -1, dtUtf8, maReplace);
	api->freeMap(call(api->getPluginByID("com.vapoursynth.std", core), "LoadPlugin", in));

	check(api->queryVideoFormat(&info.format, cfGray, stInteger, 8, 0, 0, core), "grey is not known");
	clip = api->createVideoFilter2("pictures", &info, picture, NULL, fmUnordered, NULL, 0, NULL, core);
	api->clearMap(in);
	api->mapConsumeNode(in, "clip", clip, maReplace);
	api->mapSetInt(in, "num", 48, maReplace);
	clip = api->mapGetNode(call(api->getPluginByID("org.retime.retime", core), "Fps", in), "clip", 0, NULL);
	check(api->getVideoInfo(clip)->numFrames == 2 * info.numFrames, "want twice the frames");
	for (n = 0; n < 2 * info.numFrames; n++) {
		char error[256] = "";
		const VSFrame *f = api->getFrame(n, clip, error, sizeof error);
		check(f != NULL, error);
		for (y = 0; y < info.height; y++)
			check(fwrite(api->getReadPtr(f, 0) + y * api->getStride(f, 0), 1, info.width, stdout) == (size_t)info.width, "cannot write");
		api->freeFrame(f);
	}
	return 0;
}
