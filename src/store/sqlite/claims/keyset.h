/* A set of stream keys, in memory, for one operation. */
#ifndef STORE_SQLITE_CLAIMS_KEYSET_H
#define STORE_SQLITE_CLAIMS_KEYSET_H

#include "base/arena.h"

struct keyset_slot {
    pawl_str key; /* borrowed */
    uint64_t hash;
};

/* All zero is an empty set. */
struct keyset {
    struct keyset_slot *slots;
    size_t cap; /* a power of two, or 0 */
    size_t count;
};

/* False when out of memory. Adding a key twice is fine. */
PAWL_MUSTCHECK bool keyset_add(struct keyset *set, struct arena *arena, pawl_str key);
bool keyset_has(const struct keyset *set, pawl_str key);

#endif
