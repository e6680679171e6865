/* A set of stream keys: open addressing, at most half full. */
#include "store/sqlite/claims/keyset.h"

#include "base/hash.h"
#include "base/str.h"

static struct keyset_slot *slot_of(const struct keyset *set, pawl_str key, uint64_t hash) {
    size_t at = (size_t)hash & (set->cap - 1);
    while (set->slots[at].key.ptr != NULL &&
           (set->slots[at].hash != hash || !str_equal(set->slots[at].key, key)))
        at = (at + 1) & (set->cap - 1);
    return &set->slots[at];
}

static bool grow(struct keyset *set, struct arena *arena) {
    struct keyset bigger = {.cap = set->cap == 0 ? 64 : set->cap * 2, .count = set->count};
    bigger.slots = arena_array(arena, bigger.cap, sizeof(*bigger.slots));
    if (bigger.slots == NULL)
        return false;
    for (size_t i = 0; i < set->cap; i++)
        if (set->slots[i].key.ptr != NULL)
            *slot_of(&bigger, set->slots[i].key, set->slots[i].hash) = set->slots[i];
    *set = bigger;
    return true;
}

bool keyset_add(struct keyset *set, struct arena *arena, pawl_str key) {
    if (set->count * 2 >= set->cap && !grow(set, arena))
        return false;
    uint64_t hash = fnv1a64(key);
    struct keyset_slot *slot = slot_of(set, key, hash);
    if (slot->key.ptr == NULL) {
        *slot = (struct keyset_slot){key, hash};
        set->count++;
    }
    return true;
}

bool keyset_has(const struct keyset *set, pawl_str key) {
    return set->cap > 0 && slot_of(set, key, fnv1a64(key))->key.ptr != NULL;
}
