// This file runs a grid: one block after the other, and the threads of a block in turn. A thread
// runs until it ends or waits for others. A waiting thread has its own stack; threads that never
// wait share one.

// Jumps from stack to stack are intended.
#undef _FORTIFY_SOURCE

#include "emulator_run.h"

#include <setjmp.h>
#include <ucontext.h>

#include <memory>
#include <vector>

#include "emulator.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emulator {

void *dynamic_shared;
uint64_t words[1024];

static const Kernel *kernels;

Kernel::Kernel(const char *module, const char *name, int args, Invoke invoke)
	: module(module), name(name), args(args), invoke(invoke), next(kernels) {
	kernels = this;
}

namespace {

enum State { idle, running, at_block, at_warp, trapped };

const size_t stack_bytes = 256 << 10;

// The emulator enters a context once. After that it leaves and resumes the fiber by jumps, which
// avoids the system calls of swapping contexts.
struct Fiber {
	ucontext_t context;
	bool entered = false;
	jmp_buf left;
	std::unique_ptr<char[]> stack{new char[stack_bytes]};
	State state = idle;
	int thread = 0;
	unsigned mask = 0;
};

struct Block {
	Invoke invoke;
	const uint64_t *args;
	bool backwards;
	int threads, started, finished;
	std::vector<std::unique_ptr<Fiber>> fibers;
	std::vector<Fiber *> spare;
	Fiber *current;
	jmp_buf scheduler;

	void enter(int thread) {
		current->thread = thread;
		threadIdx.x = thread % blockDim.x;
		threadIdx.y = thread / blockDim.x % blockDim.y;
		threadIdx.z = thread / (blockDim.x * blockDim.y);
	}

	// work runs threads that have not started.
	void work() {
		while (started < threads) {
			int n = started++;
			enter(backwards ? threads - 1 - n : n);
			invoke(args);
			finished++;
		}
		current->state = idle;
		spare.push_back(current);
	}

	Fiber *take() {
		if (spare.empty()) {
			fibers.emplace_back(new Fiber);
			spare.push_back(fibers.back().get());
		}
		Fiber *f = spare.back();
		spare.pop_back();
		return f;
	}

	void resume(Fiber *f) {
		current = f;
		if (f->state != idle) enter(f->thread);
		f->state = running;
		if (_setjmp(scheduler)) return;
		if (f->entered) _longjmp(f->left, 1);
		f->entered = true;
		setcontext(&f->context);
	}

	void leave(Fiber *f) {
		if (!_setjmp(f->left)) _longjmp(scheduler, 1);
	}

	void wait(State s, unsigned mask) {
		Fiber *f = current;
		f->state = s;
		f->mask = mask;
		leave(f);
	}

	const char *run();
	bool release();
} block;

void start() {
	for (;;) {
		Fiber *f = block.current;
		block.work();
		block.leave(f);
	}
}

const char *Block::run() {
	started = finished = 0;
	while (finished < threads) {
		while (started < threads) {
			Fiber *f = take();
			if (!f->entered) {
				getcontext(&f->context);
				f->context.uc_stack.ss_sp = f->stack.get();
				f->context.uc_stack.ss_size = stack_bytes;
				f->context.uc_link = nullptr;
				makecontext(&f->context, start, 0);
			}
			resume(f);
		}
		if (finished < threads && !release()) {
			const char *why = "threads wait at a barrier that others of them do not reach";
			spare.clear();
			for (auto &f : fibers) {
				if (f->state == trapped) why = "a thread called __trap";
				f->entered = f->entered && f->state == idle;
				f->state = idle;
				spare.push_back(f.get());
			}
			return why;
		}
	}
	return nullptr;
}

// release resumes the threads whose barrier is complete.
bool Block::release() {
	int in_block = 0;
	unsigned in_warp[32] = {};
	for (auto &f : fibers) {
		if (f->state == at_block) in_block++;
		if (f->state == at_warp) in_warp[f->thread / 32] |= 1u << f->thread % 32;
	}
	std::vector<Fiber *> go;
	for (auto &f : fibers) {
		if (f->state == at_block && in_block == threads) go.push_back(f.get());
		if (f->state != at_warp) continue;
		int first = f->thread & ~31;
		unsigned exist = threads - first >= 32 ? ~0u : (1u << (threads - first)) - 1;
		unsigned wanted = f->mask & exist;
		if ((in_warp[f->thread / 32] & wanted) == wanted) go.push_back(f.get());
	}
	for (auto *f : go) resume(f);
	return !go.empty();
}

}

int rank() { return block.current->thread; }
void wait_block() { block.wait(at_block, 0); }
void wait_warp(unsigned mask) { block.wait(at_warp, mask); }
void trap() { block.wait(trapped, 0); }

}

using namespace emulator;

const void *retime_kernel(const char *module, const char *name, int *args) {
	for (const Kernel *k = kernels; k; k = k->next)
		if (!strcmp(k->module, module) && !strcmp(k->name, name)) {
			*args = k->args;
			return k;
		}
	return nullptr;
}

const char *retime_launch(const void *kernel, const int *grid, const int *size, int shared, int backwards, const uint64_t *args) {
	gridDim = {unsigned(grid[0]), unsigned(grid[1]), unsigned(grid[2])};
	blockDim = {unsigned(size[0]), unsigned(size[1]), unsigned(size[2])};
	block.invoke = static_cast<const Kernel *>(kernel)->invoke;
	block.args = args;
	block.backwards = backwards;
	block.threads = size[0] * size[1] * size[2];
	std::vector<uint64_t> memory((shared + 15) / 8 + 1);
	dynamic_shared = (void *)(((uintptr_t)memory.data() + 15) & ~(uintptr_t)15);
	int64_t blocks = (int64_t)grid[0] * grid[1] * grid[2];
	for (int64_t i = 0; i < blocks; i++) {
		int64_t b = backwards ? blocks - 1 - i : i;
		blockIdx = {unsigned(b % grid[0]), unsigned(b / grid[0] % grid[1]), unsigned(b / grid[0] / grid[1])};
		memset(memory.data(), 0xa5, memory.size() * 8);
		if (const char *wrong = block.run()) return wrong;
	}
	return nullptr;
}
