/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles. An object's handle is its address; every live one is listed by kind, so that a stale or
 * foreign handle is answered as the driver does. The memory of a deleted object is kept and used
 * again for the next of its kind, last one first: programs do see handles come back.
 */
#ifndef AF_TESTS_SOFTGPU_DRIVER_OBJECT_H
#define AF_TESTS_SOFTGPU_DRIVER_OBJECT_H

#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

enum object_kind {
	OBJECT_CONTEXT = 1,
	OBJECT_STREAM,
	OBJECT_EVENT,
	OBJECT_MODULE,
	OBJECT_LIBRARY,
	OBJECT_FUNCTION,
	OBJECT_KERNEL,
	OBJECT_POOL,
	OBJECT_PHYSICAL,
	OBJECT_GRAPH,
	OBJECT_NODE,
	OBJECT_EXEC,
	OBJECT_USER,
};

/* Live handles. */
extern std::unordered_map<const void *, enum object_kind> &objects;

template <class T> std::vector<void *> &object_free_list()
{
	static std::vector<void *> &list = *new std::vector<void *>();

	return list;
}

template <class T, class... Args> T *object_new(Args &&...args)
{
	std::vector<void *> &list = object_free_list<T>();
	void *where;

	if (list.empty()) {
		where = ::operator new(sizeof(T));
	} else {
		where = list.back();
		list.pop_back();
	}
	T *object = new (where) T{std::forward<Args>(args)...};
	objects[object] = T::KIND;
	return object;
}

/* The live object behind a handle, or NULL. */
template <class T> T *object_find(const void *handle)
{
	auto found = objects.find(handle);

	if (found == objects.end() || found->second != T::KIND)
		return nullptr;
	return static_cast<T *>(const_cast<void *>(handle));
}

template <class T> void object_delete(T *object)
{
	objects.erase(object);
	object->~T();
	object_free_list<T>().push_back(object);
}

#endif
