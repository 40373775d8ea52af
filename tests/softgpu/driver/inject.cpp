/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/inject.h"
#include <atomic>
#include <mutex>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <unistd.h>
#include <vector>
#include "tests/softgpu/softgpu.h"

namespace
{
struct rule {
	std::string name;
	long nth;   /* of a failing call, 0: every one */
	long value; /* CUresult, or microseconds */
	long seen;
};

struct rules {
	std::mutex lock;
	std::vector<struct rule> failing, slow;
};

/* Made on first use: the first call may come from a constructor of the program. */
struct rules &all()
{
	static struct rules &r = *new struct rules();

	return r;
}

std::once_flag environment_read;
std::atomic<bool> any{true}; /* some rule exists, or the environment has not been read */
std::atomic<uint64_t> counts[CALL_COUNT];

bool known(const std::string &name)
{
	for (const struct api_row &row : api_rows)
		if (name == row.name || name == row.base)
			return true;
	return false;
}

bool parse_number(const std::string &text, long *out)
{
	char *end;

	*out = strtol(text.c_str(), &end, 0);
	return !text.empty() && !*end && *out >= 0;
}

/* "name:field:...", with fields numbers (or * for 0). */
bool parse_rule(const std::string &text, size_t fields, struct rule *out)
{
	std::vector<std::string> part;

	for (size_t at = 0; at <= text.size();) {
		size_t end = text.find(':', at);

		end = end == std::string::npos ? text.size() : end;
		part.push_back(text.substr(at, end - at));
		at = end + 1;
	}
	if (part.size() != fields + 1 || !known(part[0]))
		return false;
	*out = {part[0], 0, 0, 0};
	if (fields == 2 && part[1] != "*" && (!parse_number(part[1], &out->nth) || !out->nth))
		return false;
	return parse_number(part[fields], &out->value);
}

int add_rules(std::vector<struct rule> *to, size_t fields, const char *text)
{
	std::string list = text ? text : "";
	std::lock_guard<std::mutex> hold(all().lock);

	if (!text)
		to->clear();
	for (size_t at = 0; at < list.size();) {
		size_t end = list.find(',', at);
		struct rule r;

		end = end == std::string::npos ? list.size() : end;
		if (!parse_rule(list.substr(at, end - at), fields, &r)) {
			fprintf(stderr, "softgpu: bad rule \"%s\"\n",
				list.substr(at, end - at).c_str());
			return -1;
		}
		to->push_back(r);
		at = end + 1;
	}
	any = !all().failing.empty() || !all().slow.empty();
	return 0;
}

bool matches(const struct rule &r, const struct api_row &row)
{
	return r.name == row.name || r.name == row.base;
}

/* SOFTGPU_FAIL and SOFTGPU_SLOW. */
void read_environment()
{
	const char *fail = getenv("SOFTGPU_FAIL"), *slow = getenv("SOFTGPU_SLOW");

	add_rules(&all().failing, 2, fail ? fail : "");
	add_rules(&all().slow, 1, slow ? slow : "");
}

CUresult apply(const struct api_row &row)
{
	CUresult result = CUDA_SUCCESS;
	long usec = 0;

	{
		std::lock_guard<std::mutex> hold(all().lock);

		for (const struct rule &r : all().slow)
			usec += matches(r, row) ? r.value : 0;
		for (struct rule &r : all().failing)
			if (matches(r, row) && (++r.seen == r.nth || !r.nth))
				result = static_cast<CUresult>(r.value);
	}
	if (usec)
		usleep(static_cast<useconds_t>(usec));
	return result;
}
} // namespace

CUresult inject(enum api_call call)
{
	counts[call].fetch_add(1, std::memory_order_relaxed);
	if (!any.load(std::memory_order_relaxed))
		return CUDA_SUCCESS;
	std::call_once(environment_read, read_environment);
	return apply(api_rows[call]);
}

int softgpu_fail(const char *text)
{
	return add_rules(&all().failing, 2, text);
}

int softgpu_slow(const char *text)
{
	return add_rules(&all().slow, 1, text);
}

uint64_t softgpu_calls(const char *name)
{
	uint64_t sum = 0;

	for (int i = 0; i < CALL_COUNT; i++)
		if (!name || strcmp(name, api_rows[i].name) == 0 ||
		    strcmp(name, api_rows[i].base) == 0)
			sum += counts[i];
	return sum;
}

uint64_t inject_count(int call)
{
	return counts[call];
}

void inject_counts_reset()
{
	for (auto &n : counts)
		n = 0;
}
