/* Numbers that look random and are the same for the same seed: xoshiro256**. */
#include "sim/world/rng.h"

static uint64_t rotate(uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }

void rng_seed(struct rng *rng, uint64_t seed) {
    /* splitmix64: neighbouring seeds give unrelated states. */
    for (int i = 0; i < 4; i++) {
        seed += 0x9e3779b97f4a7c15u;
        uint64_t z = seed;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        rng->s[i] = z ^ (z >> 31);
    }
}

uint64_t rng_next(struct rng *rng) {
    uint64_t *s = rng->s;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

int64_t rng_range(struct rng *rng, int64_t low, int64_t high) {
    if (high <= low)
        return low;
    return low + (int64_t)(rng_next(rng) % (uint64_t)(high - low + 1));
}

bool rng_chance(struct rng *rng, int per_10000) {
    return per_10000 > 0 && rng_range(rng, 0, 9999) < per_10000;
}
