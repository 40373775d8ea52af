/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/registry.h"
#include <map>
#include <mutex>

namespace
{
struct registry {
	std::mutex lock;
	std::map<std::string, const struct softgpu_kernel *> kernels;
	std::map<std::string, const struct softgpu_variable *> variables;
};

/* Companions linked into a program register before this library's own constructors may have run. */
struct registry &all()
{
	static struct registry &r = *new struct registry();

	return r;
}
} // namespace

void softgpu_register_kernel(const struct softgpu_kernel *k)
{
	std::lock_guard<std::mutex> hold(all().lock);

	all().kernels.emplace(k->name, k);
}

void softgpu_register_variable(const struct softgpu_variable *v)
{
	std::lock_guard<std::mutex> hold(all().lock);

	all().variables.emplace(v->name, v);
}

const struct softgpu_kernel *registry_kernel(const char *name)
{
	std::lock_guard<std::mutex> hold(all().lock);
	auto found = all().kernels.find(name);

	return found == all().kernels.end() ? nullptr : found->second;
}

const struct softgpu_variable *registry_variable(const char *name)
{
	std::lock_guard<std::mutex> hold(all().lock);
	auto found = all().variables.find(name);

	return found == all().variables.end() ? nullptr : found->second;
}

std::vector<std::string> registry_kernel_names()
{
	std::lock_guard<std::mutex> hold(all().lock);
	std::vector<std::string> names;

	for (const auto &entry : all().kernels)
		names.push_back(entry.first);
	return names;
}
