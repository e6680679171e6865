/* Allocations that fail: of libpawl, of SQLite, of libpq, and of every arena. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "sweep/sweep.h"

/* The allocator below: AddressSanitizer's, or the C library's. */
#if defined(__SANITIZE_ADDRESS__)
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif
void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t count, size_t size);
void *REAL(realloc)(void *ptr, size_t size);

/* Of this thread: how many allocations are still granted; -1: all. */
static _Thread_local long left = -1;
static _Thread_local bool fired;
static bool goes_on;

static bool refused(void) {
    if (left < 0)
        return false;
    if (left > 0) {
        left--;
        return false;
    }
    if (fired && !goes_on)
        return false;
    fired = true;
    return true;
}

void *malloc(size_t size) { return refused() ? NULL : REAL(malloc)(size); }
void *calloc(size_t count, size_t size) { return refused() ? NULL : REAL(calloc)(count, size); }
void *realloc(void *ptr, size_t size) { return refused() ? NULL : REAL(realloc)(ptr, size); }

/* An arena takes memory in pieces, so which of its allocations fails depends on what came before: any may.
 * The linker sends the calls here (--wrap). */
void *__real_arena_alloc(struct arena *arena, size_t size);
void *__wrap_arena_alloc(struct arena *arena, size_t size);
void *__wrap_arena_alloc(struct arena *arena, size_t size) {
    return refused() ? NULL : __real_arena_alloc(arena, size);
}
void *__real_arena_array(struct arena *arena, size_t count, size_t size);
void *__wrap_arena_array(struct arena *arena, size_t count, size_t size);
void *__wrap_arena_array(struct arena *arena, size_t count, size_t size) {
    return refused() ? NULL : __real_arena_array(arena, count, size);
}
void *__real_arena_copy(struct arena *arena, const void *ptr, size_t len);
void *__wrap_arena_copy(struct arena *arena, const void *ptr, size_t len);
void *__wrap_arena_copy(struct arena *arena, const void *ptr, size_t len) {
    return refused() ? NULL : __real_arena_copy(arena, ptr, len);
}

static void arm(long nth) {
    fired = false;
    left = nth;
}

static void arm_once(long nth) {
    goes_on = false;
    arm(nth);
}

static void arm_on(long nth) {
    goes_on = true;
    arm(nth);
}

static bool disarm(void) {
    left = -1;
    return fired;
}

/* UNAVAILABLE: libpq says no memory as a lost connection. */
#define STATUSES (1U << PAWL_NO_MEMORY | 1U << PAWL_UNAVAILABLE)
const struct sweep_way sweep_ways_memory[] = {
    {.name = "memory", .arm = arm_once, .disarm = disarm, .statuses = STATUSES},
    {.name = "memory_on", .arm = arm_on, .disarm = disarm, .statuses = STATUSES},
    {.name = NULL},
};
