/* The readable trace of a world: one line per happening, with words for its numbers. */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include <stdint.h>

void trace_print(int64_t now_ms, const char *what, const int64_t numbers[static 3]);

#endif
