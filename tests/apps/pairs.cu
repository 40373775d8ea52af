// SPDX-License-Identifier: Apache-2.0
// Runs add -> RMSNorm many times with something in between, and prints a checksum of everything
// that is left in memory. usage: pairs MODE [ITERATIONS] [ROWS] [COLS]
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <sys/wait.h>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include "pairs_kernels.cuh"

#define CHECK(call)                                                                            \
	do {                                                                                   \
		cudaError_t e_ = (call);                                                       \
		if (e_ != cudaSuccess) {                                                       \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_));            \
			exit(3);                                                               \
		}                                                                              \
	} while (0)

struct work {
	int rows, cols, n;
	float *a, *b, *c, *d, *s, *t, *w, *o;
	float *host;
	cudaStream_t stream, other;
	cudaEvent_t event;
	uint64_t sum;
};

static float noise(uint32_t &x)
{
	x = x * 1664525u + 1013904223u;
	return (float)(int32_t)x / 2147483648.0f;
}

static void fill(float *dev, int n, uint32_t seed)
{
	std::vector<float> h(n);

	for (float &v : h)
		v = noise(seed);
	CHECK(cudaMemcpy(dev, h.data(), n * sizeof(float), cudaMemcpyHostToDevice));
}

static void digest(work &w, const float *dev, int n)
{
	std::vector<uint32_t> h(n);

	CHECK(cudaMemcpy(h.data(), dev, n * sizeof(float), cudaMemcpyDeviceToHost));
	for (uint32_t v : h)
		w.sum = (w.sum ^ v) * 1099511628211ull;
}

static void add(work &w, float *out, const float *x, const float *y, cudaStream_t s)
{
	add_rows<<<(w.n + 255) / 256, 256, 0, s>>>(out, x, y, w.n);
	CHECK(cudaGetLastError());
}

static void norm(work &w, float *out, const float *in, cudaStream_t s)
{
	rms_norm<<<w.rows, 256, 0, s>>>(out, in, w.w, w.cols, 1e-5f);
	CHECK(cudaGetLastError());
}

static void setup(work &w)
{
	float **buf[] = {&w.a, &w.b, &w.c, &w.d, &w.s, &w.t, &w.o};

	w.n = w.rows * w.cols;
	for (float **p : buf) {
		CHECK(cudaMalloc(p, (w.n + 64) * sizeof(float)));
		fill(*p, w.n + 64, (uint32_t)(p - &w.a) * 77 + 5);
	}
	CHECK(cudaMalloc(&w.w, w.cols * sizeof(float)));
	fill(w.w, w.cols, 99);
	CHECK(cudaMallocHost(&w.host, (w.n + 64) * sizeof(float)));
	CHECK(cudaEventCreate(&w.event));
	w.sum = 1469598103934665603ull;
}

static void finish(work &w)
{
	CHECK(cudaDeviceSynchronize());
	for (float *p : {w.a, w.b, w.c, w.d, w.s, w.t, w.o})
		digest(w, p, w.n + 64);
}

/* One iteration of each simple mode. i varies the data: the result of one feeds the next. */
static void plain(work &w, int i)
{
	add(w, w.s, w.a, w.b, w.stream);
	norm(w, w.o, w.s, w.stream);
	add(w, w.a, w.o, w.d, w.stream);
}

static void inplace(work &w, int i)
{
	add(w, w.a, w.a, w.b, w.stream);
	norm(w, w.o, w.a, w.stream);
	scale_all<<<(w.n + 255) / 256, 256, 0, w.stream>>>(w.a, 0.7f, w.n);
}

static void norm_inplace(work &w, int i)
{
	add(w, w.s, w.a, w.b, w.stream);
	norm(w, w.s, w.s, w.stream);
	add(w, w.a, w.s, w.d, w.stream);
}

/* As decoders end: the same add leads to another norm every so often. */
static void final_norm(work &w, int i)
{
	for (int layer = 0; layer < 5; layer++)
		plain(w, i);
	add(w, w.s, w.a, w.b, w.stream);
	norm(w, w.s, w.s, w.stream);
}

static void allocs(work &w, int i) /* memory comes and goes every time */
{
	void *p;

	for (int layer = 0; layer < 3; layer++)
		plain(w, i);
	CHECK(cudaMalloc(&p, 1 << 20));
	for (int layer = 0; layer < 3; layer++)
		plain(w, i);
	CHECK(cudaFree(p));
}

static void turns(work &w, int i) /* now a norm follows the add, now it does not */
{
	plain(w, i);
	plain(w, i);
	add(w, w.s, w.a, w.b, w.stream);
	if (i % 3)
		scale_all<<<(w.n + 255) / 256, 256, 0, w.stream>>>(w.s, 0.9f, w.n);
	norm(w, w.o, w.s, w.stream);
}

static void swapped(work &w, int i) /* the norm's output is the add's input */
{
	add(w, w.s, w.a, w.b, w.stream);
	norm(w, w.a, w.s, w.stream);
}

static void event(work &w, int i)
{
	add(w, w.s, w.a, w.b, w.stream);
	CHECK(cudaEventRecord(w.event, w.stream));
	norm(w, w.a, w.s, w.stream);
}

static void query(work &w, int i)
{
	add(w, w.s, w.a, w.b, w.stream);
	cudaStreamQuery(w.stream);
	norm(w, w.a, w.s, w.stream);
}

static void copy(work &w, int i)
{
	add(w, w.s, w.a, w.b, w.stream);
	CHECK(cudaMemcpyAsync(w.t, w.s, w.n * sizeof(float), cudaMemcpyDeviceToDevice, w.stream));
	norm(w, w.a, w.s, w.stream);
}

static void overwrite_by_copy(work &w, int i)
{
	add(w, w.s, w.a, w.b, w.stream);
	CHECK(cudaMemcpyAsync(w.s, w.c, 64, cudaMemcpyDeviceToDevice, w.stream));
	norm(w, w.a, w.s, w.stream);
}

static void roundtrip(work &w, int i)
{
	add(w, w.s, w.a, w.b, w.stream);
	CHECK(cudaMemcpyAsync(w.host, w.s, 16, cudaMemcpyDeviceToHost, w.stream));
	CHECK(cudaStreamSynchronize(w.stream));
	w.host[0] = w.host[0] * 0.5f + (float)i;
	CHECK(cudaMemcpyAsync(w.s, w.host, 16, cudaMemcpyHostToDevice, w.stream));
	norm(w, w.a, w.s, w.stream);
}

static void hostfunc(work &w, int i)
{
	static int calls;

	add(w, w.s, w.a, w.b, w.stream);
	CHECK(cudaLaunchHostFunc(w.stream, [](void *p) { ++*(int *)p; }, &calls));
	norm(w, w.a, w.s, w.stream);
}

static void streams(work &w, int i)
{
	add(w, w.s, w.a, w.b, w.stream);
	CHECK(cudaEventRecord(w.event, w.stream));
	CHECK(cudaStreamWaitEvent(w.other, w.event, 0));
	norm(w, w.o, w.s, w.other);
	CHECK(cudaEventRecord(w.event, w.other));
	CHECK(cudaStreamWaitEvent(w.stream, w.event, 0));
	add(w, w.a, w.o, w.d, w.stream);
}

static void unknown(work &w, int i)
{
	add(w, w.s, w.a, w.b, w.stream);
	scale_all<<<(w.n + 255) / 256, 256, 0, w.stream>>>(w.s, 0.9f, w.n);
	norm(w, w.a, w.s, w.stream);
}

static void overwrite(work &w, int i)
{
	add(w, w.s, w.a, w.b, w.stream);
	add(w, w.a, w.c, w.d, w.stream);
	norm(w, w.o, w.s, w.stream);
	add(w, w.b, w.o, w.d, w.stream);
}

static void read_between(work &w, int i)
{
	add(w, w.s, w.a, w.b, w.stream);
	add(w, w.t, w.s, w.d, w.stream);
	norm(w, w.a, w.s, w.stream);
}

static void independent(work &w, int i)
{
	add(w, w.s, w.a, w.b, w.stream);
	add(w, w.t, w.c, w.d, w.stream);
	norm(w, w.a, w.s, w.stream);
}

static void overlap(work &w, int i) /* the weights lie inside the sum */
{
	float *weight = w.w;

	add(w, w.s, w.a, w.b, w.stream);
	w.w = w.s + 16;
	norm(w, w.o, w.s, w.stream);
	w.w = weight;
	add(w, w.a, w.o, w.d, w.stream);
}

static void attribute(work &w, int i)
{
	cudaLaunchConfig_t c = {};
	cudaLaunchAttribute at = {};

	add(w, w.s, w.a, w.b, w.stream);
	at.id = cudaLaunchAttributeCooperative;
	at.val.cooperative = 1;
	c.gridDim = dim3((unsigned)w.rows);
	c.blockDim = dim3(256);
	c.stream = w.stream;
	c.attrs = &at;
	c.numAttrs = 1;
	CHECK(cudaLaunchKernelEx(&c, rms_norm, w.a, (const float *)w.s, (const float *)w.w, w.cols, 1e-5f));
}

static void freeasync(work &w, int i)
{
	float *x;

	CHECK(cudaMallocAsync(&x, w.n * sizeof(float), w.stream));
	CHECK(cudaMemcpyAsync(x, w.a, w.n * sizeof(float), cudaMemcpyDeviceToDevice, w.stream));
	add(w, w.s, x, w.b, w.stream);
	CHECK(cudaFreeAsync(x, w.stream));
	norm(w, w.a, w.s, w.stream);
}

static void allocasync(work &w, int i)
{
	float *x;

	add(w, w.s, w.a, w.b, w.stream);
	CHECK(cudaMallocAsync(&x, w.n * sizeof(float), w.stream));
	norm(w, w.a, w.s, w.stream);
	CHECK(cudaFreeAsync(x, w.stream));
}

static void lone_stream(work &w, int i) /* a stream that dies with a launch in flight */
{
	cudaStream_t s;

	CHECK(cudaStreamCreate(&s));
	add(w, w.s, w.a, w.b, s);
	CHECK(cudaStreamDestroy(s));
	CHECK(cudaDeviceSynchronize());
	norm(w, w.a, w.s, w.stream);
	CHECK(cudaDeviceSynchronize());
}

static void legacy(work &w, int i) /* the default stream orders itself against blocking streams */
{
	add(w, w.s, w.a, w.b, w.other);
	norm(w, w.o, w.s, 0);
	add(w, w.a, w.o, w.d, w.other);
}

static void bad_launch(work &w, int i)
{
	add(w, w.s, w.a, w.b, w.stream);
	rms_norm<<<w.rows, 2048, 0, w.stream>>>(w.o, w.s, w.w, w.cols, 1e-5f);
	if (cudaGetLastError() != cudaErrorInvalidConfiguration)
		exit(4);
	norm(w, w.a, w.s, w.stream);
}

static const struct {
	const char *name;
	void (*once)(work &, int);
} simple[] = {{"plain", plain}, {"inplace", inplace}, {"norm_inplace", norm_inplace}, {"final_norm", final_norm}, {"allocs", allocs}, {"turns", turns},
	      {"swapped", swapped}, {"event", event}, {"query", query}, {"copy", copy},
	      {"overwrite_by_copy", overwrite_by_copy}, {"roundtrip", roundtrip},
	      {"hostfunc", hostfunc}, {"streams", streams}, {"unknown", unknown},
	      {"overwrite", overwrite}, {"read", read_between}, {"independent", independent},
	      {"overlap", overlap}, {"attribute", attribute}, {"freeasync", freeasync},
	      {"allocasync", allocasync}, {"lone_stream", lone_stream}, {"legacy", legacy},
	      {"bad_launch", bad_launch}};

/* The last launch is an add; nothing of the host's follows but a loop on mapped memory. */
static int spin(work &w)
{
	volatile int *flag;
	int *flag_dev;
	time_t end;

	/* Lazy loading makes a kernel's first launch wait for what runs. */
	for (int i = 0; i < 20; i++)
		plain(w, i);
	CHECK(cudaHostAlloc((void **)&flag, sizeof(*flag), cudaHostAllocMapped));
	*flag = 7;
	CHECK(cudaHostGetDevicePointer((void **)&flag_dev, (void *)flag, 0));
	watch<<<1, 1, 0, w.stream>>>(w.s, 0.0f, flag_dev, 1);
	CHECK(cudaDeviceSynchronize());
	*flag = 0;
	CHECK(cudaMemcpy(w.host, w.s, 4, cudaMemcpyDeviceToHost));
	watch<<<1, 1, 0, w.other>>>(w.s, w.host[0], flag_dev, 1ll << 40);
	add(w, w.s, w.a, w.b, w.stream);
	end = time(NULL) + 10;
	while (!*flag && time(NULL) < end)
		;
	printf("spin %s\n", *flag == 1 ? "ended" : "HUNG");
	return *flag == 1 ? 0 : 5;
}

/* One thread captures pairs in global mode while this one launches them. */
static int capture(work &w, int iterations)
{
	work v = w;
	cudaGraph_t graph = NULL;
	cudaGraphExec_t exec = NULL;
	cudaError_t begin = cudaSuccess, end = cudaSuccess;

	setup(v);
	CHECK(cudaStreamCreateWithFlags(&v.stream, cudaStreamNonBlocking));
	CHECK(cudaDeviceSynchronize());
	for (int round = 0; round < 5; round++) {
		std::thread t([&] {
			begin = cudaStreamBeginCapture(v.stream, cudaStreamCaptureModeGlobal);
			for (int i = 0; i < iterations; i++)
				plain(v, i);
			end = cudaStreamEndCapture(v.stream, &graph);
		});
		for (int i = 0; i < iterations; i++)
			plain(w, i);
		t.join();
		if (begin != cudaSuccess || end != cudaSuccess) {
			printf("capture failed: %d %d\n", begin, end);
			return 6;
		}
		CHECK(cudaGraphInstantiate(&exec, graph, 0));
		CHECK(cudaGraphLaunch(exec, v.stream));
		CHECK(cudaStreamSynchronize(v.stream));
		CHECK(cudaGraphExecDestroy(exec));
		CHECK(cudaGraphDestroy(graph));
	}
	finish(v);
	w.sum ^= v.sum * 31;
	return 0;
}

/* Adds that no norm follows, for long; then pairs. */
static int late(work &w, int iterations)
{
	for (int i = 0; i < 3000; i++) {
		add(w, w.s, w.a, w.b, w.stream);
		scale_all<<<(w.n + 255) / 256, 256, 0, w.stream>>>(w.s, 0.9f, w.n);
	}
	for (int i = 0; i < iterations; i++)
		plain(w, i);
	return 0;
}

static void *driver(const char *name)
{
	void *f = dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);

	if (!f) {
		fprintf(stderr, "no %s\n", name);
		exit(3);
	}
	return f;
}

/* Calls that the driver refuses where pairs are fused: parameters in both forms, or more of them than the
 * kernel has; a free of what lies within an allocation. */
static int refused(work &w, int iterations)
{
	typedef CUresult launch_fn(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
				   CUstream, void **, void **);
	auto launch = (launch_fn *)driver("cuLaunchKernel");
	auto free_async = (CUresult(*)(CUdeviceptr, CUstream))driver("cuMemFreeAsync");
	struct {
		float *out;
		const float *x, *y;
		int n;
	} packed = {w.s, w.c, w.d, w.n};
	size_t bytes = 28, more = 64;
	char buffer[64] = {};
	void *both[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END},
	     *longer[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &more, CU_LAUNCH_PARAM_END},
	     *params[] = {&packed.out, &packed.x, &packed.y, &packed.n};
	unsigned grid = (w.n + 255) / 256;
	cudaFunction_t f;
	float *x;

	memcpy(buffer, &packed, bytes);
	CHECK(cudaGetFuncBySymbol(&f, (const void *)add_rows));
	CHECK(cudaMallocAsync(&x, w.n * sizeof(float), w.stream));
	for (int i = 0; i < iterations; i++) {
		plain(w, i);
		printf("%d", launch(f, grid, 1, 1, 256, 1, 1, 0, w.stream, params, both));
		norm(w, w.o, w.s, w.stream);
		printf(" %d", launch(f, grid, 1, 1, 256, 1, 1, 0, w.stream, NULL, longer));
		norm(w, w.o, w.s, w.stream);
		add(w, x, w.a, w.b, w.stream);
		printf(" %d", free_async((CUdeviceptr)x + 16, w.stream));
		norm(w, w.o, x, w.stream);
		printf(" %d\n", cudaStreamSynchronize(w.stream));
	}
	return 0;
}

/* Another thread asks again and again for the end of the primary context, which the driver refuses. */
static int destroyed(work &w, int iterations)
{
	auto current = (CUresult(*)(CUcontext *))driver("cuCtxGetCurrent");
	auto destroy = (CUresult(*)(CUcontext))driver("cuCtxDestroy_v2");
	std::atomic<bool> stop(false);
	CUcontext ctx;
	int refused = 0;

	if (current(&ctx))
		return 6;
	std::thread t([&] {
		while (!stop)
			refused += destroy(ctx) != CUDA_SUCCESS;
	});
	for (int i = 0; i < iterations; i++)
		plain(w, i);
	stop = true;
	t.join();
	return refused ? 0 : 6;
}

/* A context goes while a stream of it captures; then pairs, in the other one. */
static int lost_capture(work &w, int iterations)
{
	auto current = (CUresult(*)(CUcontext *))driver("cuCtxGetCurrent");
	auto set = (CUresult(*)(CUcontext))driver("cuCtxSetCurrent");
	auto create = (CUresult(*)(CUcontext *, unsigned, CUdevice))driver("cuCtxCreate_v2");
	auto destroy = (CUresult(*)(CUcontext))driver("cuCtxDestroy_v2");
	auto stream = (CUresult(*)(CUstream *, unsigned))driver("cuStreamCreate");
	auto begin = (CUresult(*)(CUstream, int))driver("cuStreamBeginCapture_v2");
	CUcontext mine, other;
	CUstream s;

	if (current(&mine) || create(&other, 0, 0) || stream(&s, CU_STREAM_NON_BLOCKING) ||
	    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED) || destroy(other) || set(mine))
		return 6;
	for (int i = 0; i < iterations; i++)
		plain(w, i);
	return 0;
}

/* A capture that begins on the per-thread stream by one name and ends by the other; then pairs. */
static int thread_capture(work &w, int iterations)
{
	auto begin = (CUresult(*)(CUstream, int))driver("cuStreamBeginCapture_v2_ptsz");
	auto end = (CUresult(*)(CUstream, CUgraph *))driver("cuStreamEndCapture");
	CUgraph graph;

	if (begin(NULL, CU_STREAM_CAPTURE_MODE_RELAXED) || end(CU_STREAM_PER_THREAD, &graph))
		return 6;
	for (int i = 0; i < iterations; i++)
		plain(w, i);
	return 0;
}

/* A thread with another context destroys the stream that a launch may be held on. */
static int foreign_destroy(work &w, int iterations)
{
	auto create = (CUresult(*)(CUcontext *, unsigned, CUdevice))driver("cuCtxCreate_v2");
	auto destroy = (CUresult(*)(CUstream))driver("cuStreamDestroy_v2");
	std::atomic<int> turn{0};
	CUresult made = CUDA_SUCCESS, gone = CUDA_SUCCESS;

	for (int i = 0; i < iterations; i++)
		plain(w, i);
	CHECK(cudaDeviceSynchronize());
	std::thread t([&] {
		CUcontext c;

		made = create(&c, 0, 0);
		turn = 1;
		while (turn != 2)
			;
		gone = destroy((CUstream)w.stream);
	});
	while (turn != 1)
		;
	add(w, w.s, w.a, w.b, w.stream);
	turn = 2;
	t.join();
	CHECK(cudaDeviceSynchronize());
	return made || gone ? 6 : 0;
}

/* Eight threads on one stream; the add in place makes a total that every lost launch would change. */
static int threads(work &w, int iterations)
{
	std::vector<work> v(8, w);
	std::vector<std::thread> t;

	for (work &x : v)
		setup(x);
	for (work &x : v) {
		x.stream = w.stream;
		x.a = w.a; /* shared: order does not matter, a + b in place with equal b */
		x.b = w.b;
	}
	CHECK(cudaMemset(w.a, 0, w.n * sizeof(float)));
	std::vector<float> ones(w.n, 1.0f);
	CHECK(cudaMemcpy(w.b, ones.data(), w.n * sizeof(float), cudaMemcpyHostToDevice));
	CHECK(cudaDeviceSynchronize());
	for (work &x : v)
		t.emplace_back([&x, iterations] {
			for (int i = 0; i < iterations; i++) {
				add(x, x.a, x.a, x.b, x.stream);
				add(x, x.s, x.c, x.d, x.stream);
				norm(x, x.c, x.s, x.stream);
			}
		});
	for (std::thread &x : t)
		x.join();
	CHECK(cudaDeviceSynchronize());
	for (work &x : v) {
		digest(w, x.c, x.n);
		digest(w, x.s, x.n);
	}
	return 0;
}

static int forks(work &w, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		int status;
		pid_t pid;

		add(w, w.s, w.a, w.b, w.stream);
		pid = fork();
		if (pid == 0)
			i % 2 ? _exit(0) : (void)execl("/bin/true", "true", (char *)NULL);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 7;
		norm(w, w.a, w.s, w.stream);
	}
	/* A program that waits for any child must never meet one of ours. */
	if (wait(NULL) != -1)
		return 8;
	return 0;
}

static int reset(work &w, int iterations)
{
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < iterations; i++)
			plain(w, i);
		finish(w);
		CHECK(cudaDeviceReset());
		setup(w);
		CHECK(cudaStreamCreate(&w.stream));
	}
	return 0;
}

/* Modes that go through all iterations themselves: 0, or an exit status. */
static const struct {
	const char *name;
	int (*run)(work &, int);
} whole[] = {{"capture", capture}, {"late", late}, {"refused", refused}, {"destroyed", destroyed},
	     {"lost_capture", lost_capture}, {"thread_capture", thread_capture},
	     {"foreign_destroy", foreign_destroy}, {"threads", threads}, {"fork", forks},
	     {"reset", reset}};

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	int iterations = argc > 2 ? atoi(argv[2]) : 60, ret = -1;
	work w = {};

	w.rows = argc > 3 ? atoi(argv[3]) : 4;
	w.cols = argc > 4 ? atoi(argv[4]) : 512;
	setup(w);
	CHECK(cudaStreamCreate(&w.stream));
	CHECK(cudaStreamCreate(&w.other));
	if (!strcmp(mode, "default")) {
		CHECK(cudaStreamDestroy(w.stream));
		w.stream = 0;
		mode = "plain";
	}
	if (!strcmp(mode, "mapped")) {
		CHECK(cudaHostAlloc((void **)&w.b, (w.n + 64) * sizeof(float), cudaHostAllocMapped));
		memset(w.b, 0, (w.n + 64) * sizeof(float));
		mode = "plain";
	}
	if (!strcmp(mode, "managed")) {
		CHECK(cudaMallocManaged((void **)&w.b, (w.n + 64) * sizeof(float)));
		fill(w.b, w.n + 64, 3);
		mode = "plain";
	}
	if (!strcmp(mode, "exit")) { /* ends with work in flight */
		for (int i = 0; i < iterations; i++)
			plain(w, i);
		add(w, w.s, w.a, w.b, w.stream);
		return 0;
	}
	if (!strcmp(mode, "die")) { /* ends badly right after a pair */
		for (int i = 0; i < iterations; i++)
			plain(w, i);
		kill(getpid(), SIGKILL);
	}
	for (auto &m : simple)
		if (!strcmp(mode, m.name)) {
			for (int i = 0; i < iterations; i++)
				m.once(w, i);
			ret = 0;
		}
	if (!strcmp(mode, "spin"))
		return spin(w);
	for (auto &m : whole)
		if (!strcmp(mode, m.name))
			ret = m.run(w, iterations);
	if (ret < 0) {
		fprintf(stderr, "pairs: no mode \"%s\"\n", mode);
		return 2;
	}
	if (ret)
		return ret;
	finish(w);
	printf("%016llx\n", (unsigned long long)w.sum);
	return 0;
}
