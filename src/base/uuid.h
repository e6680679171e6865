/* UUIDv7: ids that sort by creation time. */
#ifndef BASE_UUID_H
#define BASE_UUID_H

#include <pthread.h>

#include "pawl.h"

/*
 * Generates strictly increasing UUIDv7s: 48 bits of wall-clock milliseconds, then 74 bits that start at
 * random each millisecond and count up within it. If the wall clock goes back, it stays at the last
 * millisecond, so the order never breaks.
 */
struct uuid_generator {
    pthread_mutex_t lock;
    int64_t (*now_ms)(void *self); /* wall clock; replaceable for tests */
    void *self;
    int64_t last_ms;
    uint64_t rand_a; /* 12 bits */
    uint64_t rand_b; /* 62 bits */
};

/* The next id of a generator; thread-safe. Fails only if the system has no random bytes. */
PAWL_MUSTCHECK pawl_status uuid_generator_next(struct uuid_generator *generator, pawl_uuid *id,
                                               pawl_error *err);

/* The next id of this process; thread-safe. */
PAWL_MUSTCHECK pawl_status uuid_next(pawl_uuid *id, pawl_error *err);

/* Random bytes from the kernel. */
PAWL_MUSTCHECK pawl_status random_bytes(void *ptr, size_t len, pawl_error *err);
/* 64 of them, or of the clock where the system has none: for jitter. */
uint64_t random_bits(void);

/* 8-4-4-4-12 lower-case hex digits and a NUL byte. Returns text. */
enum { UUID_TEXT_BYTES = 37 };
char *uuid_format(pawl_uuid id, char text[static UUID_TEXT_BYTES]);

/* Any UUID version, any letter case, with its hyphens. False leaves *id alone. */
PAWL_MUSTCHECK bool uuid_parse(pawl_str text, pawl_uuid *id);

/* The lowest and the highest id that begin with the text; false: no id does. */
PAWL_MUSTCHECK bool uuid_range(pawl_str text, pawl_uuid *low, pawl_uuid *high);

int uuid_compare(pawl_uuid a, pawl_uuid b);
bool uuid_equal(pawl_uuid a, pawl_uuid b);
pawl_uuid uuid_nil(void);
bool uuid_is_nil(pawl_uuid id);

/* The wall milliseconds inside a UUIDv7; -1 for any other version. */
int64_t uuid_time_ms(pawl_uuid id);

#endif
