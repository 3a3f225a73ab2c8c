/*
 * getrandom() for the kernel's process alone, by LD_PRELOAD: numbers of ACKCLOCK_SEED in place of the host's, so that
 * two boots draw the same. SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static uint64_t state;
static int begun;

static uint64_t next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	unsigned char *at = buffer;
	size_t left = length;

	(void)flags;
	if (!begun) {
		const char *seed = getenv("ACKCLOCK_SEED");
		state = seed ? strtoull(seed, NULL, 10) : 0;
		begun = 1;
	}
	while (left) {
		uint64_t drawn = next();
		size_t part = left < sizeof drawn ? left : sizeof drawn;
		memcpy(at, &drawn, part);
		at += part;
		left -= part;
	}
	return length;
}
