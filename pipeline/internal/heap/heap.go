// Package heap says what C code has allocated, so that tests can tell leaks from
// what allocators keep for later, and has them give that back.
package heap

/*
#include <malloc.h>

static long long in_use(void)
{
#if defined __GLIBC__ && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
	struct mallinfo2 m = mallinfo2();
	return m.uordblks + m.hblkhd;
#else
	return -1;
#endif
}

static void trim(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
*/
import "C"

// Exact is what GLIBC_TUNABLES must be when the process starts for InUse to count to
// the byte: threads keep no freed memory of their own.
const Exact = "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1"

// InUse is how many bytes malloc has handed out and not got back; false without glibc
// 2.33 or later.
func InUse() (bytes int64, ok bool) {
	n := int64(C.in_use())
	return n, n >= 0
}

// Trim gives the system back what malloc keeps of freed memory, where it is glibc's:
// each thread's share would else grow with what the thread happens to do.
func Trim() { C.trim() }
