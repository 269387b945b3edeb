/*
 * Loads libraries that hold libretime, each with a Go runtime of its own, uses them in turn and from
 * threads at once, and closes them: two LIBRARY... The program's own handlers of signals must still be
 * called.
 */
#define _XOPEN_SOURCE 700
#define RETIME_TYPES_ONLY
#include "host.h"
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

enum { ROUNDS = 50, MOST = 4 };

typedef struct library {
	void *handle;
	void (*options_default)(retime_options *);
	retime_clip *(*open)(const retime_options *, int64_t, char *, size_t);
	int (*frame)(retime_clip *, int64_t, const retime_picture *, int, const retime_picture *, retime_info *, char *, size_t);
	void (*close)(retime_clip *);
	unsigned char made[WIDTH * HEIGHT];
} library;

static library libraries[MOST];
static unsigned char shot[2][WIDTH * HEIGHT];

static void find(library *l, const char *name, void *function)
{
	void *at = dlsym(l->handle, name);
	check(at != NULL, name);
	memcpy(function, &at, sizeof at);
}

static void load(library *l, const char *path)
{
	l->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	check(l->handle != NULL, path);
	find(l, "retime_options_default", &l->options_default);
	find(l, "retime_clip_open", &l->open);
	find(l, "retime_clip_frame", &l->frame);
	find(l, "retime_clip_close", &l->close);
}

/* Makes the frame between the two pictures. */
static void use(library *l)
{
	retime_options o;
	retime_picture pictures[2] = {grey(shot[0]), grey(shot[1])}, to = grey(l->made);
	char why[256] = "";
	retime_clip *clip;
	l->options_default(&o);
	o.width = WIDTH;
	o.height = HEIGHT;
	o.depth = 8;
	o.planes = 1;
	o.rate_num = o.rate_den = 1;
	o.out_num = 2;
	o.out_den = 1;
	clip = l->open(&o, 2, why, sizeof why);
	check(clip != NULL, why);
	check(l->frame(clip, 1, pictures, 2, &to, NULL, why, sizeof why) == RETIME_OK, why);
	l->close(clip);
}

static void *use_often(void *l)
{
	int i;
	for (i = 0; i < ROUNDS; i++)
		use(l);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction act;
	pthread_t threads[MOST];
	int i, n = argc - 1;
	check(n >= 1 && n <= MOST, "two LIBRARY...");
	memset(&act, 0, sizeof act);
	act.sa_handler = count;
	act.sa_flags = SA_ONSTACK;
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGUSR1, &act, NULL);
	for (i = 0; i < WIDTH * HEIGHT; i++) {
		shot[0][i] = (i * 7 + i / WIDTH * 5) & 255;
		shot[1][i] = ((i + 2) * 7 + i / WIDTH * 5) & 255;
	}
	for (i = 0; i < n; i++) {
		load(&libraries[i], argv[i + 1]);
		use(&libraries[i]);
		check(memcmp(libraries[i].made, libraries[0].made, sizeof libraries[0].made) == 0, "frames differ");
	}
	for (i = 1; i < n; i++)
		check(libraries[i].open != libraries[0].open, "the libraries are one");
	for (i = 0; i < ROUNDS; i++) {
		use(&libraries[i % n]);
		raise(SIGINT);
		raise(SIGUSR1);
	}
	for (i = 0; i < n; i++)
		check(pthread_create(&threads[i], NULL, use_often, &libraries[i]) == 0, "no thread");
	for (i = 0; i < ROUNDS; i++)
		check(raise(SIGINT) == 0 && raise(SIGUSR1) == 0, "raise");
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	check(memcmp(libraries[0].made, libraries[n - 1].made, sizeof libraries[0].made) == 0, "frames differ");
	for (i = n - 1; i >= 0; i--)
		check(dlclose(libraries[i].handle) == 0, "dlclose");
	raise(SIGINT);
	check(interrupts == 2 * ROUNDS + 1 && users == 2 * ROUNDS, "signals are lost");
	return 0;
}
