/* Arenas: scratch memory that is freed all at once. */
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

#define ALIGNMENT _Alignof(max_align_t)

#if defined(__SANITIZE_ADDRESS__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHED 1
#endif
#endif
#ifdef WATCHED
#include <sanitizer/asan_interface.h>
#endif

/* AddressSanitizer finds a use after a reset and past an allocation's end, as it does for malloc. */
__attribute__((noinline)) static void watch(void *at, size_t bytes, bool allowed) {
#ifdef WATCHED
    if (allowed)
        __asan_unpoison_memory_region(at, bytes);
    else
        __asan_poison_memory_region(at, bytes);
#else
    (void)at, (void)bytes, (void)allowed;
#endif
}

struct chunk {
    struct chunk *next;
    size_t size; /* of data */
    size_t used;
    max_align_t data[];
};

struct arena {
    struct chunk *chunks; /* the newest, which has the free space, is first */
    size_t bytes_max;
    size_t bytes_held; /* by all chunks together */
    size_t bytes_used;
};

struct arena *arena_create(size_t bytes_max) {
    struct arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL)
        return NULL;
    arena->bytes_max = bytes_max > 0 ? bytes_max : PAWL_ARENA_BYTES_MAX;
    return arena;
}

static void free_chunks(struct chunk *chunk) {
    while (chunk != NULL) {
        struct chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

void arena_free(struct arena *arena) {
    if (arena == NULL)
        return;
    free_chunks(arena->chunks);
    free(arena);
}

void arena_reset(struct arena *arena) {
    struct chunk *kept = arena != NULL ? arena->chunks : NULL;
    if (kept == NULL)
        return;
    arena->bytes_used = 0;
    free_chunks(kept->next);
    kept->next = NULL;
    if (kept->size > PAWL_ARENA_CHUNK_BYTES) {
        /* One unusually large round must not keep its memory forever. */
        free(kept);
        arena->chunks = NULL;
        arena->bytes_held = 0;
        return;
    }
    kept->used = 0;
    watch(kept->data, kept->size, false);
    arena->bytes_held = kept->size;
}

static struct chunk *add_chunk(struct arena *arena, size_t size) {
    size_t room = arena->bytes_max - arena->bytes_held;
    if (size > room)
        return NULL;
    size_t chunk_size = size > PAWL_ARENA_CHUNK_BYTES ? size : PAWL_ARENA_CHUNK_BYTES;
    if (chunk_size > room)
        chunk_size = room / ALIGNMENT * ALIGNMENT;
    if (chunk_size < size)
        return NULL;
    struct chunk *chunk = malloc(sizeof *chunk + chunk_size);
    if (chunk == NULL)
        return NULL;
    chunk->size = chunk_size;
    chunk->used = 0;
    watch(chunk->data, chunk_size, false);
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->bytes_held += chunk_size;
    return chunk;
}

void *arena_alloc(struct arena *arena, size_t size) {
    if (arena == NULL || size > SIZE_MAX - ALIGNMENT)
        return NULL;
    size_t padded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (padded == 0)
        padded = ALIGNMENT; /* every allocation has its own address */

    struct chunk *chunk = arena->chunks;
    if (chunk == NULL || padded > chunk->size - chunk->used) {
        chunk = add_chunk(arena, padded);
        if (chunk == NULL)
            return NULL;
    }
    char *memory = (char *)chunk->data + chunk->used;
    chunk->used += padded;
    arena->bytes_used += padded;
    watch(memory, size, true);
    return memset(memory, 0, size);
}

void *arena_array(struct arena *arena, size_t count, size_t size) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return arena_alloc(arena, bytes);
}

void *arena_copy(struct arena *arena, const void *ptr, size_t len) {
    if (len == SIZE_MAX)
        return NULL;
    char *copy = arena_alloc(arena, len + 1);
    if (copy != NULL && len > 0)
        memcpy(copy, ptr, len);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text) { return arena_copy(arena, text, strlen(text)); }

char *arena_printf(struct arena *arena, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    char *text = arena_vprintf(arena, fmt, args);
    va_end(args);
    return text;
}

char *arena_vprintf(struct arena *arena, const char *fmt, va_list args) {
    va_list again;
    va_copy(again, args);
    char *text = NULL;
    int len = vsnprintf(NULL, 0, fmt, args);
    if (len >= 0)
        text = arena_alloc(arena, (size_t)len + 1);
    if (text != NULL)
        vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    return text;
}

size_t arena_used(const struct arena *arena) { return arena != NULL ? arena->bytes_used : 0; }
