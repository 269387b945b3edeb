/* What the hosts share that use libretime for a test's sake. */
#include <libretime.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 40, HEIGHT = 24 };

static volatile sig_atomic_t interrupts, users;
static char error[64]; /* of the last call that failed */

static void count(int number)
{
	if (number == SIGINT)
		interrupts++;
	else
		users++;
}

static void check(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "%s (%s)\n", what, error);
		exit(1);
	}
}

static retime_picture grey(unsigned char *samples)
{
	retime_picture p = {.version = RETIME_API_VERSION};
	p.planes[0] = samples;
	p.stride[0] = WIDTH;
	return p;
}
