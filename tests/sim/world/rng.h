/* Numbers that look random and are the same for the same seed: xoshiro256**. */
#ifndef SIM_RNG_H
#define SIM_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t s[4];
};

void rng_seed(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);
/* Between low and high, both possible. */
int64_t rng_range(struct rng *rng, int64_t low, int64_t high);
/* True in `per_10000` of 10,000 cases. */
bool rng_chance(struct rng *rng, int per_10000);

#endif
