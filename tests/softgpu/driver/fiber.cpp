/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/fiber.h"
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include "tests/softgpu/driver/asan.h"

namespace
{
enum {
	STACK_BYTES = 256 << 10, /* reserved; only touched pages cost memory */
	COLOURS = 64, /* stack tops are spread over this many cache lines: see fiber_reset */
};

/* Parked stacks of threads that ended; never freed. */
struct pool {
	std::mutex lock;
	struct fiber *free;
	unsigned made;
} pool;

#if defined(__x86_64__)
/*
 * softgpu_fiber_switch(void **save, void *load): callee-saved registers go on the old stack, come
 * from the new one. The MXCSR and x87 control words are left alone: kernels do not change them for
 * longer than one intrinsic.
 */
asm(R"(
	.text
	.p2align 4
	.type softgpu_fiber_switch, @function
softgpu_fiber_switch:
	.cfi_startproc
	pushq %rbp
	pushq %rbx
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbx
	popq %rbp
	ret
	.cfi_endproc
	.size softgpu_fiber_switch, .-softgpu_fiber_switch
)");
extern "C" void softgpu_fiber_switch(void **save, void *load);
#endif

/* First code on a new stack. */
thread_local void (*starting)();

void fiber_start()
{
	if (__sanitizer_finish_switch_fiber)
		__sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
	starting();
	__builtin_trap();
}

/*
 * Stacks lie a power of two apart, so that the same frame of every thread would fall into one set
 * of the cache. The tops start at different cache lines instead.
 */
void fiber_reset(struct fiber *f)
{
	size_t top = f->bytes - f->colour * 64;

	f->fake = nullptr;
	asan_unpoison(f->stack, f->bytes);
#if defined(__x86_64__)
	void **sp = reinterpret_cast<void **>(f->stack + top);

	*--sp = nullptr; /* where fiber_start would return to; keeps its stack aligned as after a
			    call */
	*--sp = reinterpret_cast<void *>(fiber_start);
	sp -= 6;
	for (int i = 0; i < 6; i++)
		sp[i] = nullptr;
	f->sp = sp;
#else
	getcontext(&f->context);
	f->context.uc_stack.ss_sp = f->stack;
	f->context.uc_stack.ss_size = top;
	makecontext(&f->context, fiber_start, 0);
#endif
}
} // namespace

struct fiber *fiber_get(void (*body)())
{
	std::lock_guard<std::mutex> hold(pool.lock);
	struct fiber *f = pool.free;

	starting = body;
	if (f) {
		pool.free = f->next;
		f->next = nullptr;
		return f;
	}
	size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
	char *base = static_cast<char *>(mmap(nullptr, STACK_BYTES + page, PROT_READ | PROT_WRITE,
					      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
	if (base == MAP_FAILED)
		return nullptr;
	mprotect(base, page, PROT_NONE); /* an overflow faults at once */
	f = new (std::nothrow) struct fiber();
	if (!f) {
		munmap(base, STACK_BYTES + page);
		return nullptr;
	}
	f->stack = base + page;
	f->bytes = STACK_BYTES;
	f->colour = pool.made++ * 7 % COLOURS;
	fiber_reset(f);
	return f;
}

void fiber_put(struct fiber *f)
{
	std::lock_guard<std::mutex> hold(pool.lock);

	fiber_reset(f);
	f->next = pool.free;
	pool.free = f;
}

void fiber_switch(struct fiber *from, struct fiber *to)
{
	if (__sanitizer_start_switch_fiber)
		__sanitizer_start_switch_fiber(&from->fake, to->stack, to->bytes);
#if defined(__x86_64__)
	softgpu_fiber_switch(&from->sp, to->sp);
#else
	swapcontext(&from->context, &to->context);
#endif
	if (__sanitizer_finish_switch_fiber)
		__sanitizer_finish_switch_fiber(from->fake, nullptr, nullptr);
}
