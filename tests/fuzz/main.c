// SPDX-License-Identifier: Apache-2.0
/*
 * A fuzzer for machines without libFuzzer: changes seed files at random and hands them to the
 * target. It does not see what the code does with them, but the same seed gives the same inputs
 * everywhere. usage: NAME [-seed=N] [-runs=N] [-seconds=N] FILE... Under the sanitizers a finding
 * ends the process; its input is then in crash-NAME.
 */
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SEEDS_MAX = 256, SIZE_MAX_ = 1 << 18, HANG_S = 20 };

static struct {
	uint8_t *data;
	size_t size;
} seed[SEEDS_MAX];
static unsigned nseed;
static uint64_t state = 1;
static uint8_t input[SIZE_MAX_];
static size_t input_size;
static char name[64];

extern void __sanitizer_set_death_callback(void (*fn)(void)) __attribute__((weak));

static void keep_input(void)
{
	char path[80];
	FILE *f;

	snprintf(path, sizeof(path), "crash-%s", name);
	f = fopen(path, "wb");
	if (!f)
		return;
	fwrite(input, 1, input_size, f);
	fclose(f);
	fprintf(stderr, "the input is in %s\n", path);
}

static uint64_t rnd(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? (state >> 11) % below : 0;
}

static void read_seed(const char *path)
{
	FILE *f = fopen(path, "rb");
	long size;

	if (!f) {
		fprintf(stderr, "cannot open %s\n", path);
		exit(2);
	}
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	if (size > SIZE_MAX_) /* the beginning of a large one */
		size = SIZE_MAX_;
	seed[nseed].data = malloc((size_t)size + 1);
	seed[nseed].size = fread(seed[nseed].data, 1, (size_t)size, f);
	nseed++;
	fclose(f);
}

/* A place in the input: anywhere, or near the front, where the tables are. */
static size_t place(void)
{
	return (size_t)rnd(rnd(3) ? input_size : input_size < 256 ? input_size : 256);
}

static void put(size_t at, const void *bytes, size_t n)
{
	if (n > input_size - at)
		n = input_size - at;
	memcpy(input + at, bytes, n);
}

static void change(void)
{
	static const uint64_t special[] = {0,          1,          0x7f,      0x80,
					   0xff,       0x7fff,     0xffff,    0x7fffffff,
					   0x80000000, 0xffffffff, INT64_MAX, UINT64_MAX};
	size_t at = place(), n = 1 + (size_t)rnd(32);
	uint64_t v = special[rnd(sizeof(special) / sizeof(*special))];
	unsigned other = (unsigned)rnd(nseed);

	switch (rnd(8)) {
	case 0:
		input[at] ^= (uint8_t)(1 << rnd(8));
		break;
	case 1:
		input[at] = (uint8_t)rnd(256);
		break;
	case 2:
		put(at, &v, (size_t)1 << rnd(4));
		break;
	case 3: /* a number becomes its neighbour, or a little more */
		input[at] = (uint8_t)(input[at] + rnd(9) - 4);
		break;
	case 4: /* cut out */
		if (n < input_size - at) {
			memmove(input + at, input + at + n, input_size - at - n);
			input_size -= n;
		}
		break;
	case 5: /* say twice */
		if (n <= input_size - at && input_size + n <= SIZE_MAX_) {
			memmove(input + at + n, input + at, input_size - at);
			input_size += n;
		}
		break;
	case 6: /* from another file */
		if (seed[other].size > n)
			put(at, seed[other].data + rnd(seed[other].size - n), n);
		break;
	default: /* end early */
		if (!rnd(8))
			input_size = at + 1;
	}
}

int main(int argc, char **argv)
{
	unsigned long runs = 1ul << 40, done = 0, seconds = 1ul << 30;
	time_t start = time(NULL);
	const char *slash = strrchr(argv[0], '/');

	snprintf(name, sizeof(name), "%s", slash ? slash + 1 : argv[0]);
	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "-seed=", 6))
			state = strtoull(argv[i] + 6, NULL, 10) * 0x9e3779b97f4a7c15u | 1;
		else if (!strncmp(argv[i], "-runs=", 6))
			runs = strtoul(argv[i] + 6, NULL, 10);
		else if (!strncmp(argv[i], "-seconds=", 9))
			seconds = strtoul(argv[i] + 9, NULL, 10);
		else if (nseed < SEEDS_MAX)
			read_seed(argv[i]);
	}
	if (!nseed) {
		fprintf(stderr, "usage: %s [-seed=N] [-runs=N] [-seconds=N] FILE...\n", name);
		return 2;
	}
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(keep_input);
	LLVMFuzzerInitialize(&argc, &argv);
	/* Each file as it is first, and at least once each. */
	for (; done < nseed || (done < runs && (unsigned long)(time(NULL) - start) < seconds);
	     done++) {
		unsigned from = (unsigned)(done < nseed ? done : rnd(nseed));

		input_size = seed[from].size;
		memcpy(input, seed[from].data, input_size);
		for (uint64_t n = done < nseed ? 0 : 1 + rnd(8); n && input_size; n--)
			if (LLVMFuzzerCustomMutator && rnd(2))
				input_size = LLVMFuzzerCustomMutator(input, input_size, SIZE_MAX_,
								     (unsigned)rnd(UINT32_MAX));
			else
				change();
		alarm(HANG_S); /* a hang is a finding: SIGALRM ends the process */
		LLVMFuzzerTestOneInput(input, input_size);
	}
	alarm(0);
	for (unsigned i = 0; i < nseed; i++)
		free(seed[i].data);
	printf("%s: %lu inputs\n", name, done);
	return 0;
}
