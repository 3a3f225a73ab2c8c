/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Integer arithmetic. BPF has no floating point, so that a quantity in segments is counted in units of 2^-20 segment
 * ("Q20"), and a rate in units of 2^-32 segment a microsecond ("Q32"). Windows stay below 2^24 segments and times below
 * 2^20 us (1 s) in products, so that none reaches 2^64.
 */
#pragma once

#include "kernel.h"

#define Q 20
#define ONE (1ULL << Q)
#define RATE 32

INLINE u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

INLINE u64 most(u64 a, u64 b)
{
	return a > b ? a : b;
}

INLINE u64 less(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

INLINE u64 times(u64 a, u64 b)
{
	return (a * b) >> Q;
}

/* a/b of two numbers of one unit, or of an integer by another, in Q20. */
INLINE u64 ratio(u64 a, u64 b)
{
	return b ? (a << Q) / b : 0;
}

/*
 * The square root of a Q20, in Q20: Newton's steps from a power of two that is at most twice too large, so that six are
 * enough for 48 bits. Without branches, of which the verifier would follow each.
 */
INLINE u64 root(u64 value)
{
	u64 whole = value << Q;
	u64 ones = whole;
	u64 found;

	ones |= ones >> 1;
	ones |= ones >> 2;
	ones |= ones >> 4;
	ones |= ones >> 8;
	ones |= ones >> 16;
	ones |= ones >> 32;
	found = 1ULL << ((__builtin_popcountll(ones) + 1) / 2);
	for (int n = 0; n < 6; n++)
		found = (found + whole / (found | !found)) >> 1;
	return found;
}

/* A product of a signed Q20 and thousandths; BPF has no signed division before its fourth version. */
INLINE s64 thousandths(s64 value, u64 thousandths)
{
	return value < 0 ? -(s64)((u64)-value * thousandths / 1000)
			 : (s64)((u64)value * thousandths / 1000);
}
