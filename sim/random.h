// SPDX-License-Identifier: BSD-2-Clause
// The dice: splitmix64. Each use has a state of its own, so that one more throw here changes nothing there.
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t random_draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
// 0 to bound − 1; bound below 2^32.
static inline uint32_t random_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)((random_draw(state) >> 32) * bound >> 32);
}
static inline bool random_happens(uint64_t *state, uint32_t ppm) { return ppm && random_below(state, 1000000) < ppm; }
static inline bool random_one_in(uint64_t *state, uint32_t count) { return random_below(state, count) == 0; }
static inline uint32_t random_between(uint64_t *state, uint32_t low, uint32_t high)
{
    return low + random_below(state, high - low + 1);
}
// Evenly over the logarithm: small numbers often, large ones seldom.
static inline uint32_t random_spread(uint64_t *state, uint32_t low, uint32_t high)
{
    uint32_t bits = 0;
    while (high >> bits > low && bits < 31)
        bits++;
    const uint32_t top = high >> random_below(state, bits + 1);
    return top <= low ? low : random_between(state, low, top);
}
// A state for `use` that has nothing to do with those of other uses.
static inline uint64_t random_state(uint64_t seed, uint64_t use)
{
    uint64_t state = seed ^ use * UINT64_C(0xd1342543de82ef95);
    return random_draw(&state);
}

#endif
