/* Answers retime's questions about optical flow: everything moves by (1, 0). docs/flow.md says how it is asked. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

static void *picture(int32_t size[2])
{
	void *samples;
	if (scanf("P5 %d %d 255", &size[0], &size[1]) != 2)
		return NULL;
	getchar();
	samples = malloc((size_t)size[0] * size[1]);
	return samples != NULL && fread(samples, size[0], size[1], stdin) == (size_t)size[1] ? samples : NULL;
}

int main(void)
{
	const float vector[2] = {1, 0};
	int32_t size[2];
	int i;
#ifdef _WIN32
	_setmode(0, _O_BINARY);
	_setmode(1, _O_BINARY);
#endif
	for (;;) {
		void *a = picture(size), *b = picture(size);
		if (a == NULL || b == NULL)
			return 0;
		fwrite("PIEH", 4, 1, stdout);
		fwrite(size, sizeof size, 1, stdout);
		for (i = 0; i < size[0] * size[1]; i++)
			fwrite(vector, sizeof vector, 1, stdout);
		fflush(stdout);
		free(a);
		free(b);
	}
}
