//go:build unix

package main

/*
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
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

static void refuse(const char *what) {
	dprintf(STDERR_FILENO, "retime: the limits of this process leave %s; raise them, or try again later\n", what);
	_exit(75);
}

// messages is where the program writes to standard error, if a parent reads what Go's runtime writes there.
static int messages = -1;

static int message_descriptor(void) { return messages; }

static volatile pid_t child;

static void pass_on(int signal) { kill(child, signal); }

static void stop(int signal) {
	kill(child, SIGSTOP);
	kill(getpid(), SIGSTOP); // until somebody continues this process
	kill(child, SIGCONT);
}

// read_all reads until the end, and returns as much of the beginning as there is room for.
static size_t read_all(int from, char *text, size_t room) {
	char rest[4096];
	size_t have = 0;
	for (;;) {
		int full = have == room;
		ssize_t n = full ? read(from, rest, sizeof rest) : read(from, text + have, room - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return have;
		if (full)
			continue;
		have += n;
	}
}

// watch has a child go on with the program, and ends as the child does. If the child's memory runs out, Go's
// runtime ends it with a trace, in whose place one line says so.
static void watch(void) {
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	child = fork();
	if (child <= 0) {
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			setpgid(0, 0); // so that signals to the group come once, from the parent
			messages = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
			dup2(ends[1], STDERR_FILENO);
		}
		close(ends[0]);
		close(ends[1]);
		return;
	}
	close(ends[1]);
	setpgid(child, child);
	signal(SIGTSTP, stop);
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (signal(signals[i], pass_on) == SIG_IGN)
			signal(signals[i], SIG_IGN);
	static char text[1 << 16];
	size_t n = read_all(ends[0], text, sizeof text - 1);
	int status;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	static const char *const lines[] = {"out of memory", "cannot allocate memory", "malloc failed", "malloc of size", "failed to create new OS thread", "failed to reserve"};
	int crashed = WIFEXITED(status) && WEXITSTATUS(status) == 2 || WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
	if (crashed || WIFEXITED(status) && WEXITSTATUS(status) != 0)
		for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
			if (strstr(text, lines[i]) != NULL) {
				if (crashed)
					refuse("too little memory for this work (ulimit -v)");
				_exit(75); // the child has said what an encoder lacked it for
			}
	for (size_t done = 0; done < n;) {
		ssize_t wrote = write(STDERR_FILENO, text + done, n - done);
		if (wrote <= 0)
			break;
		done += wrote;
	}
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		kill(getpid(), WTERMSIG(status));
	}
	_exit(WEXITSTATUS(status));
}

// check runs before Go's runtime begins.
__attribute__((constructor)) static void check(void) {
	const char *what = lacks();
	if (what != NULL)
		refuse(what);
	struct rlimit addresses;
	if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY)
		watch();
}
*/
import "C"

// messageDescriptor returns where to write messages; ok is false for standard error itself.
func messageDescriptor() (fd int, ok bool) {
	fd = int(C.message_descriptor())
	return fd, fd >= 0
}
