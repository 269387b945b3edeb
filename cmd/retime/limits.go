package main

/*
#include <errno.h>
#include <stdio.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

// What a small conversion takes. Where there is less, Go's runtime ends the program with a trace,
// which no code of ours could keep it from.
enum { DESCRIPTORS = 20, THREADS = 8, THREADS_PER_PROCESSOR = 2 };
#define ADDRESSES (2UL << 30)
#define ADDRESSES_PER_PROCESSOR (128UL << 20)

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *hold(void *none) {
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	return none;
}

// lacks returns what the limits of the process leave too little of; NULL if there is enough of all.
static const char *lacks(void) {
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	if (processors < 1)
		processors = 1;
	size_t size = ADDRESSES + processors * ADDRESSES_PER_PROCESSOR;
	void *memory = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return "too little memory (ulimit -v)";
	munmap(memory, size);

	int files[DESCRIPTORS], opened = 0;
	while (opened < DESCRIPTORS && (files[opened] = dup(STDERR_FILENO)) >= 0)
		opened++;
	for (int i = 0; i < opened; i++)
		close(files[i]);
	if (opened < DESCRIPTORS && (opened > 0 || errno != EBADF)) // EBADF: standard error is closed
		return "too few open files (ulimit -n)";

	int want = THREADS + processors * THREADS_PER_PROCESSOR, started = 0;
	pthread_t threads[want];
	pthread_mutex_lock(&held);
	while (started < want && pthread_create(&threads[started], NULL, hold, NULL) == 0)
		started++;
	pthread_mutex_unlock(&held);
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	return started < want ? "too few threads (ulimit -u)" : NULL;
}

// check runs before Go's runtime begins.
__attribute__((constructor)) static void check(void) {
	const char *what = lacks();
	if (what == NULL)
		return;
	dprintf(STDERR_FILENO, "retime: the limits of this process leave %s; raise them, or try again later\n", what);
	_exit(75);
}
*/
import "C"
