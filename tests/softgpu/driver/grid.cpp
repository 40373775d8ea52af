/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A launch runs its blocks one after the other in an order that differs from launch to launch, as
 * do the orders of warps: what depends on either (float atomics) gives other bits from run to run,
 * as on a GPU. Shared memory starts as garbage.
 */
#include "tests/softgpu/driver/grid.h"
#include <atomic>
#include <link.h>
#include <mutex>
#include <numeric>
#include <stdio.h>
#include <string.h>
#include "tests/softgpu/driver/asan.h"
#include "tests/softgpu/driver/block.h"
#include "tests/softgpu/driver/observe.h"
#include "tests/softgpu/driver/state.h"
#include "tests/softgpu/softgpu.h"

namespace
{
struct counts {
	std::mutex lock;
	std::map<std::string, uint64_t> runs;
};
struct counts &counts = *new struct counts();

struct region {
	char *base;
	size_t bytes;
};

struct search {
	uintptr_t code;
	struct region found;
};

int search_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = static_cast<struct search *>(arg);
	struct region tls = {nullptr, 0};
	bool here = false;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && s->code - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
			here = true;
		if (p->p_type == PT_TLS && size > offsetof(struct dl_phdr_info, dlpi_tls_data))
			tls = {static_cast<char *>(info->dlpi_tls_data), p->p_memsz};
	}
	if (!here)
		return 0;
	if (info->dlpi_name[0]) /* in a program, thread-locals are not only shared memory */
		s->found = tls;
	return 1;
}

/* This thread's __shared__ variables of the companion that holds the kernel, dynamic ones too. */
struct region static_shared(const struct softgpu_kernel *k)
{
	static thread_local std::map<const struct softgpu_kernel *, struct region> known;
	auto found = known.find(k);

	if (found != known.end())
		return found->second;
	struct search s = {reinterpret_cast<uintptr_t>(k->run), {nullptr, 0}};
	dl_iterate_phdr(search_library, &s);
	return known[k] = s.found;
}

struct shared {
	char *dynamic;
	size_t dynamic_bytes;
	struct region tls;
};

void fill(char *p, size_t bytes, uint64_t random)
{
	uint64_t word = mix64(random);

	for (; bytes >= sizeof(word); p += sizeof(word), bytes -= sizeof(word))
		memcpy(p, &word, sizeof(word));
	memcpy(p, &word, bytes);
}

void shared_garbage(const struct shared *s, uint64_t random)
{
	char *end = s->tls.base + s->tls.bytes;

	fill(s->dynamic, s->dynamic_bytes, random);
	if (!s->tls.base)
		return;
	if (s->dynamic < s->tls.base || s->dynamic >= end) {
		fill(s->tls.base, s->tls.bytes, random);
		return;
	}
	fill(s->tls.base, static_cast<size_t>(s->dynamic - s->tls.base), random);
	char *behind = s->dynamic + SOFTGPU_SHARED_MAX;
	fill(behind, static_cast<size_t>(end - behind), random);
}

/* i -> (first + i * step) mod n goes through all of 0 .. n-1 if step and n have no common factor.
 */
struct walk {
	uint64_t n, first, step;

	walk(uint64_t count, uint64_t random)
	    : n(count), first(random % count), step(mix64(random) % count)
	{
		while (std::gcd(step, n) != 1)
			step = step ? step - 1 : n - 1;
	}
	uint64_t at(uint64_t i) const
	{
		return static_cast<uint64_t>((static_cast<unsigned __int128>(i) * step + first) %
					     n);
	}
};
} // namespace

static std::atomic<bool> idle;

void softgpu_idle(int on)
{
	idle = on;
}

CUresult kernel_work::run() const
{
	static std::atomic<uint64_t> launches;
	uint64_t random = mix64(driver.seed + launches++);
	struct shared s = {static_cast<char *>(kernel->shared()), shared_bytes, {nullptr, 0}};
	struct block_launch l = {kernel, pointers.data(), grid, block};
	struct walk order(static_cast<uint64_t>(grid.x) * grid.y * grid.z, random);
	const char *fault = nullptr;
	uint64_t start = observe_now();

	s.tls = static_shared(kernel); /* after shared(), which makes the thread's copy */
	asan_unpoison(s.dynamic, SOFTGPU_SHARED_MAX);
	asan_poison(s.dynamic + shared_bytes, SOFTGPU_SHARED_MAX - shared_bytes);
	shared_garbage(&s, random);
	for (uint64_t i = idle.load(std::memory_order_relaxed) ? order.n : 0; i < order.n && !fault; i++) {
		uint64_t b = order.at(i);
		struct softgpu_dim where = {static_cast<unsigned>(b % grid.x),
					    static_cast<unsigned>(b / grid.x % grid.y),
					    static_cast<unsigned>(b / grid.x / grid.y)};

		fault = block_run(&l, where, random + i);
		if (block_switched() && i + 1 < order.n)
			shared_garbage(&s, random + i);
	}
	asan_unpoison(s.dynamic, SOFTGPU_SHARED_MAX);
	if (fault) {
		fprintf(stderr, "softgpu: %s: %s\n", kernel->name, fault);
		return CUDA_ERROR_LAUNCH_FAILED;
	}
	observe_ran(kernel->name, start);
	std::lock_guard<std::mutex> hold(counts.lock);
	counts.runs[kernel->name]++;
	return CUDA_SUCCESS;
}

std::map<std::string, uint64_t> grid_counts()
{
	std::lock_guard<std::mutex> hold(counts.lock);

	return counts.runs;
}

void grid_counts_reset()
{
	std::lock_guard<std::mutex> hold(counts.lock);

	counts.runs.clear();
}
