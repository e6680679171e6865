/* The groups of interleaving tests that main() runs. */
#ifndef INTERLEAVE_RACES_H
#define INTERLEAVE_RACES_H

#include <stdlib.h>
#include <string.h>

#include "interleave/driver.h"

struct races {
    const char *name;
    const struct CMUnitTest *tests;
    size_t count;
};

#define RACES(noun, table)                                                                                   \
    extern const struct races races_##noun;                                                                  \
    const struct races races_##noun = {#noun, table, sizeof(table) / sizeof(table)[0]}

#endif
