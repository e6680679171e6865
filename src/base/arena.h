/* Arenas: scratch memory that is freed all at once, per call, per loop iteration or per request. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>

#include "pawl.h"

struct arena;

/* An empty arena that never holds more than bytes_max (0: PAWL_ARENA_BYTES_MAX). NULL when out of memory,
 * which need not be checked: all functions take it, and it has no memory to give. */
struct arena *arena_create(size_t bytes_max);

/* Frees the arena and everything allocated from it; takes NULL. */
void arena_free(struct arena *arena);

/* Forgets everything allocated; keeps one chunk for the next round. */
void arena_reset(struct arena *arena);

/* Zeroed memory, aligned for any type. NULL when out of memory or over the limit; size 0 gives a valid
 * pointer. */
void *arena_alloc(struct arena *arena, size_t size);

/* An array of count zeroed members; NULL also when count * size overflows. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* Copies of bytes and text, with a NUL byte after them that is not part of len. NULL when out of memory. */
void *arena_copy(struct arena *arena, const void *ptr, size_t len);
char *arena_strdup(struct arena *arena, const char *text);

char *arena_printf(struct arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

/* Bytes handed out since the last reset, padding included. */
size_t arena_used(const struct arena *arena);

#endif
