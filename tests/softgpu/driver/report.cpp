/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/report.h"
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <unistd.h>
#include "tests/softgpu/driver/api.h"
#include "tests/softgpu/driver/grid.h"
#include "tests/softgpu/driver/inject.h"
#include "tests/softgpu/driver/object.h"
#include "tests/softgpu/driver/state.h"
#include "tests/softgpu/softgpu.h"

namespace
{
/* How many there are now. */
size_t alive(enum object_kind kind)
{
	size_t n = 0;

	pthread_mutex_lock(&driver.lock);
	for (const auto &o : objects)
		n += o.second == kind;
	pthread_mutex_unlock(&driver.lock);
	return n;
}

void at_exit()
{
	softgpu_report(getenv("SOFTGPU_REPORT"));
}
} // namespace

void report_environment()
{
	if (getenv("SOFTGPU_REPORT"))
		atexit(at_exit);
}

int softgpu_report(const char *file)
{
	std::string path = file ? file : "";
	size_t at = path.find("%p");

	if (at != std::string::npos)
		path.replace(at, 2, std::to_string(getpid()));
	FILE *f = fopen(path.c_str(), "w");
	if (!f)
		return -1;
	for (const auto &entry : grid_counts())
		fprintf(f, "kernel %s %llu\n", entry.first.c_str(),
			static_cast<unsigned long long>(entry.second));
	for (int i = 0; i < CALL_COUNT; i++)
		if (inject_count(i))
			fprintf(f, "call %s %llu\n", api_rows[i].name,
				static_cast<unsigned long long>(inject_count(i)));
	fprintf(f, "graphs %llu\n", static_cast<unsigned long long>(alive(OBJECT_GRAPH)));
	return fclose(f) == 0 ? 0 : -1;
}

uint64_t softgpu_launches(const char *kernel)
{
	uint64_t sum = 0;

	for (const auto &entry : grid_counts())
		if (!kernel || entry.first == kernel)
			sum += entry.second;
	return sum;
}

void softgpu_reset_counts()
{
	grid_counts_reset();
	inject_counts_reset();
}
