/* What every fuzz target has: its entry, and a claim that must hold. The engine is libFuzzer's, or replay.c.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(bool truth) {
    if (!truth)
        abort();
}

#endif
