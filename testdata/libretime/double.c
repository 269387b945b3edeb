/*
 * Doubles the frame rate of a YUV4MPEG2 file of 8 bits, 4:2:0: double push|cuda|random THREADS <in >out
 *
 *     gcc double.c -o double $(pkg-config --cflags --libs libretime)
 *
 * push reads and writes as it goes, and so does cuda, for which a device makes the frames; random holds
 * all pictures and makes the frames from the last to the first.
 */
#include <libretime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

static retime_options options;
static size_t size; /* of a picture in bytes */
static char error[256];

static void check(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "double: %s\n", what);
		exit(1);
	}
}

static void *allocate(size_t bytes)
{
	void *p = malloc(bytes);
	check(p != NULL, "no memory");
	return p;
}

/* Reads the file's header, and writes that of the doubled one. */
static void header(void)
{
	char line[512], *word;
	long num = 25, den = 1;
	check(fgets(line, sizeof line, stdin) != NULL && strncmp(line, "YUV4MPEG2", 9) == 0, "no YUV4MPEG2 file");
	retime_options_default(&options);
	for (word = strtok(line, " \n"); word != NULL; word = strtok(NULL, " \n")) {
		if (word[0] == 'W')
			options.width = atoi(word + 1);
		else if (word[0] == 'H')
			options.height = atoi(word + 1);
		else if (word[0] == 'F')
			check(sscanf(word + 1, "%ld:%ld", &num, &den) == 2, "no rate");
		else if (word[0] == 'C')
			check(strncmp(word, "C420", 4) == 0 && !(word[4] == 'p' && word[5] == '1'), "not 4:2:0 of 8 bits");
	}
	options.depth = 8;
	options.planes = 3;
	options.chroma_x = options.chroma_y = 1;
	options.rate_num = num;
	options.rate_den = den;
	options.out_num = 2 * num;
	options.out_den = den;
	size = (size_t)options.width * options.height + 2 * (size_t)((options.width + 1) / 2) * ((options.height + 1) / 2);
	printf("YUV4MPEG2 W%d H%d F%ld:%ld C420\n", options.width, options.height, 2 * num, den);
}

/* Describes a picture's planes, which lie one after the other. */
static retime_picture planes(unsigned char *samples)
{
	retime_picture p = {.version = RETIME_API_VERSION};
	int half = (options.width + 1) / 2;
	p.planes[0] = samples;
	p.planes[1] = samples + (size_t)options.width * options.height;
	p.planes[2] = (unsigned char *)p.planes[1] + (size_t)half * ((options.height + 1) / 2);
	p.stride[0] = options.width;
	p.stride[1] = p.stride[2] = half;
	return p;
}

static int read_picture(unsigned char *samples)
{
	char line[256];
	if (fgets(line, sizeof line, stdin) == NULL)
		return 0;
	check(strncmp(line, "FRAME", 5) == 0 && fread(samples, 1, size, stdin) == size, "the file is cut short");
	return 1;
}

static void write_frame(const unsigned char *samples)
{
	check(fputs("FRAME\n", stdout) >= 0 && fwrite(samples, 1, size, stdout) == size, "cannot write");
}

/* Writes the frames that are ready, or after the end all. Returns what the last call returned. */
static int pull(retime_stream *stream, unsigned char *samples)
{
	retime_picture to = planes(samples);
	int code;
	while ((code = retime_stream_pull(stream, &to, NULL, error, sizeof error)) == RETIME_OK)
		write_frame(samples);
	check(code >= 0, error);
	return code;
}

static void push(void)
{
	unsigned char *in = allocate(size), *out = allocate(size);
	retime_picture from = planes(in);
	retime_stream *stream = retime_stream_open(&options, error, sizeof error);
	check(stream != NULL, error);
	while (read_picture(in)) {
		check(retime_stream_push(stream, &from, error, sizeof error) == RETIME_OK, error);
		pull(stream, out);
	}
	retime_stream_finish(stream);
	check(pull(stream, out) == RETIME_END, "frames are missing");
	retime_stream_close(stream);
	free(in);
	free(out);
}

static void at_random(void)
{
	unsigned char **in = NULL, **out, *room = allocate(size);
	retime_clip *clip;
	int64_t pictures = 0, frames, k, i;
	while (read_picture(room)) {
		check((in = realloc(in, (pictures + 1) * sizeof *in)) != NULL, "no memory");
		in[pictures++] = room;
		room = allocate(size);
	}
	clip = retime_clip_open(&options, pictures, error, sizeof error);
	check(clip != NULL, error);
	frames = retime_clip_frames(clip);
	out = allocate(frames * sizeof *out);
	for (k = frames - 1; k >= 0; k--) {
		retime_picture around[4], to;
		int64_t first, last;
		check(retime_clip_needs(clip, k, &first, &last, error, sizeof error) == RETIME_OK, error);
		for (i = first; i <= last; i++)
			around[i - first] = planes(in[i]);
		to = planes(out[k] = allocate(size));
		check(retime_clip_frame(clip, k, around, last - first + 1, &to, NULL, error, sizeof error) == RETIME_OK, error);
	}
	retime_clip_close(clip);
	for (k = 0; k < frames; k++) {
		write_frame(out[k]);
		free(out[k]);
	}
	for (i = 0; i < pictures; i++)
		free(in[i]);
	free(in);
	free(out);
	free(room);
}

int main(int argc, char **argv)
{
#ifdef _WIN32
	_setmode(0, _O_BINARY);
	_setmode(1, _O_BINARY);
#endif
	check(argc == 3 && strchr("pcr", argv[1][0]) != NULL, "double push|cuda|random THREADS <in >out");
	header();
	options.threads = atoi(argv[2]);
	options.device = argv[1][0] == 'c' ? RETIME_CUDA : RETIME_CPU;
	if (argv[1][0] == 'r')
		at_random();
	else
		push();
	return 0;
}
