/* Memory of the simulator: there is enough, or the program ends. */
#include "sim/world/alloc.h"

#include <stdio.h>
#include <stdlib.h>

static void *or_end(void *memory) {
    if (memory == NULL) {
        fprintf(stderr, "pawl-sim: out of memory\n");
        abort();
    }
    return memory;
}

void *sim_alloc(size_t size) { return or_end(calloc(1, size > 0 ? size : 1)); }

void *sim_grow(void *items, size_t *capacity, size_t wanted, size_t size) {
    if (wanted <= *capacity)
        return items;
    size_t bigger = *capacity < 16 ? 16 : *capacity * 2;
    if (bigger < wanted)
        bigger = wanted;
    *capacity = bigger;
    return or_end(realloc(items, bigger * size));
}
