/*
 * Opens and closes handles of libretime again and again, and calls it wrongly: faults ROUNDS [flat]
 * The program's own handlers of signals must still be called. With flat, memory must not grow after
 * the first fifth of the rounds.
 */
#define _XOPEN_SOURCE 700
#include "host.h"
#include <string.h>

enum { GROWTH = 2048 /* KiB */ };

static retime_options good(void)
{
	retime_options o;
	retime_options_default(&o);
	o.width = WIDTH;
	o.height = HEIGHT;
	o.depth = 8;
	o.planes = 1;
	o.rate_num = 24;
	o.rate_den = 1;
	o.slow_num = 2;
	o.slow_den = 1;
	return o;
}

static void refused(retime_options o, const char *what)
{
	error[0] = 0;
	check(retime_clip_open(&o, 3, error, sizeof error) == NULL && error[0] != 0, what);
	check(retime_stream_open(&o, NULL, 0) == NULL, what);
}

static void wrong_options(void)
{
	retime_options o;
	o = good(), o.version = 99, refused(o, "a version that is not known");
	o = good(), o.width = 0, refused(o, "no width");
	o = good(), o.depth = 32, refused(o, "32 bits");
	o = good(), o.preset = 7, refused(o, "a preset that is not known");
	o = good(), o.mode = -1, refused(o, "a mode that is not known");
	o = good(), o.rate_den = 0, refused(o, "a rate without denominator");
	o = good(), o.slow_num = -2, refused(o, "a negative factor");
	check(retime_clip_open(NULL, 3, error, sizeof error) == NULL, "no options");
	o = good();
	check(retime_clip_open(&o, 0, error, sizeof error) == NULL, "no pictures");
	o.drop_repeats = 1;
	check(retime_clip_open(&o, 3, error, sizeof error) == NULL, "repeats of a clip");
}

static void one_round(unsigned char *a, unsigned char *b, unsigned char *out)
{
	retime_options o = good();
	retime_picture pictures[3], to = grey(out), none = {.version = RETIME_API_VERSION};
	retime_info info = {.version = RETIME_API_VERSION};
	int64_t first, last;
	retime_stream *stream;
	retime_clip *clip = retime_clip_open(&o, 3, error, sizeof error);
	check(clip != NULL, "open");
	pictures[0] = pictures[2] = grey(a);
	pictures[1] = grey(b);
	check(retime_clip_frames(clip) == 6, "frames");
	check(retime_clip_needs(clip, 6, &first, &last, error, sizeof error) == RETIME_USAGE, "a frame that is not there");
	check(retime_clip_needs(clip, 1, &first, &last, error, sizeof error) == RETIME_OK && first == 0 && last == 2, "needs");
	check(retime_clip_frame(clip, 1, pictures, 2, &to, NULL, error, sizeof error) == RETIME_USAGE, "too few pictures");
	check(retime_clip_frame(clip, 1, pictures, 3, &none, NULL, error, sizeof error) == RETIME_USAGE, "no room");
	to.stride[0] = 3;
	check(retime_clip_frame(clip, 1, pictures, 3, &to, NULL, error, sizeof error) == RETIME_USAGE, "short rows");
	to.stride[0] = WIDTH;
	check(retime_clip_frame(clip, 1, pictures, 3, &to, &info, error, sizeof error) == RETIME_OK && info.sources[1] == 1 && info.number == 1, "a frame");
	check(retime_clip_frame(clip, 0, pictures, 1, &to, &info, error, sizeof error) == RETIME_OK && info.kind == RETIME_AS_SHOT && memcmp(a, out, WIDTH * HEIGHT) == 0, "a picture");
	retime_clip_close(clip);

	stream = retime_stream_open(&o, error, sizeof error);
	check(stream != NULL, "open a stream");
	check(retime_stream_pull(stream, &to, &info, error, sizeof error) == RETIME_NONE, "nothing was pushed");
	check(retime_stream_push(stream, &pictures[0], error, sizeof error) == RETIME_OK, "push");
	retime_stream_finish(stream);
	check(retime_stream_push(stream, &pictures[0], error, sizeof error) == RETIME_USAGE, "push after the end");
	check(retime_stream_pull(stream, &to, &info, error, sizeof error) == RETIME_OK && info.kind == RETIME_AS_SHOT, "pull");
	retime_stream_close(stream); /* with a frame left */
}

/* Returns how much memory the process has that is no file's, in KiB. */
static long anonymous(void)
{
	char line[256];
	long kib = -1;
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	check(f != NULL, "no /proc/self/smaps_rollup");
	while (fgets(line, sizeof line, f) != NULL)
		sscanf(line, "Anonymous: %ld", &kib);
	fclose(f);
	check(kib > 0, "no line about anonymous memory");
	return kib;
}

int main(int argc, char **argv)
{
	static unsigned char a[WIDTH * HEIGHT], b[WIDTH * HEIGHT], out[WIDTH * HEIGHT];
	struct sigaction act;
	int i, rounds = argc > 1 ? atoi(argv[1]) : 0, flat = argc > 2;
	long before = 0;
	check(rounds > 4, "faults ROUNDS [flat]");
	memset(&act, 0, sizeof act);
	act.sa_handler = count;
	act.sa_flags = SA_ONSTACK;
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGUSR1, &act, NULL);
	for (i = 0; i < WIDTH * HEIGHT; i++) {
		a[i] = (i * 7 + i / WIDTH * 5) & 255;
		b[i] = ((i + 2) * 7 + i / WIDTH * 5) & 255;
	}
	check(retime_api_version() == RETIME_API_VERSION && retime_version()[0] != 0, "versions");
	wrong_options();
	for (i = 0; i < rounds; i++) {
		if (flat && i == rounds / 5)
			before = anonymous();
		one_round(a, b, out);
		raise(SIGINT);
		raise(SIGUSR1);
	}
	retime_clip_close(NULL);
	retime_stream_close(NULL);
	check(interrupts == rounds && users == rounds, "signals are lost");
	if (flat) {
		long grew = anonymous() - before;
		snprintf(error, sizeof error, "%ld KiB in %d rounds", grew, rounds - rounds / 5);
		check(grew < GROWTH, "memory grows");
	}
	return 0;
}
