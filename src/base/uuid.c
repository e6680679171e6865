/* UUIDv7: ids that sort by creation time. */
#include "base/uuid.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"

#define RAND_A_MAX UINT64_C(0xfff)
#define RAND_B_MAX UINT64_C(0x3fffffffffffffff)
#define TIME_MS_MAX INT64_C(0xffffffffffff)

static int64_t wall_now_ms(void *self) {
    (void)self;
    return clock_wall_ms();
}

/* The one writable static of the library: ids must increase over the whole process. */
static struct uuid_generator process_generator = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .now_ms = wall_now_ms,
    .last_ms = -1,
};

pawl_status random_bytes(void *ptr, size_t len, pawl_error *err) {
    size_t done = 0;
    while (done < len) {
        ssize_t got = getrandom((char *)ptr + done, len - done, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_errno(err, PAWL_UNAVAILABLE, "random_bytes", errno,
                               "the system provides no random bytes");
        done += (size_t)got;
    }
    return PAWL_OK;
}

uint64_t random_bits(void) {
    uint64_t bits = 0;
    return random_bytes(&bits, sizeof bits, NULL) == PAWL_OK ? bits : (uint64_t)clock_boot_us();
}

/* Starts a new millisecond at a random place in the lower half, so that there is room to count up. */
static pawl_status reseed(struct uuid_generator *generator, int64_t now_ms, pawl_error *err) {
    uint64_t random[2] = {0};
    pawl_status status = random_bytes(random, sizeof random, err);
    if (status != PAWL_OK)
        return status;
    generator->last_ms = now_ms;
    generator->rand_a = random[0] & (RAND_A_MAX >> 1);
    generator->rand_b = random[1] & RAND_B_MAX;
    return PAWL_OK;
}

/* The next number within the same millisecond; a random step keeps ids hard to guess. */
static pawl_status count_up(struct uuid_generator *generator, pawl_error *err) {
    uint32_t step = 0;
    pawl_status status = random_bytes(&step, sizeof step, err);
    if (status != PAWL_OK)
        return status;
    uint64_t sum = generator->rand_b + step + 1;
    if (sum > RAND_B_MAX) {
        if (generator->rand_a == RAND_A_MAX)
            return reseed(generator, generator->last_ms + 1,
                          err); /* the millisecond is full: borrow the next */
        generator->rand_a++;
    }
    generator->rand_b = sum & RAND_B_MAX;
    return PAWL_OK;
}

static pawl_uuid compose(const struct uuid_generator *generator) {
    pawl_uuid id;
    uint64_t time_ms = (uint64_t)generator->last_ms;
    for (int i = 0; i < 6; i++)
        id.b[i] = (uint8_t)(time_ms >> (40 - 8 * i));
    id.b[6] = (uint8_t)(0x70 | (generator->rand_a >> 8));
    id.b[7] = (uint8_t)generator->rand_a;
    for (int i = 0; i < 8; i++)
        id.b[8 + i] = (uint8_t)(generator->rand_b >> (56 - 8 * i));
    id.b[8] = (uint8_t)(0x80 | (id.b[8] & 0x3f));
    return id;
}

pawl_status uuid_generator_next(struct uuid_generator *generator, pawl_uuid *id, pawl_error *err) {
    pthread_mutex_lock(&generator->lock);
    int64_t now_ms = generator->now_ms(generator->self);
    if (now_ms > TIME_MS_MAX)
        now_ms = TIME_MS_MAX;
    pawl_status status = now_ms > generator->last_ms ? reseed(generator, now_ms, err)
                                                     : count_up(generator, err);
    if (status == PAWL_OK)
        *id = compose(generator);
    pthread_mutex_unlock(&generator->lock);
    return status;
}

pawl_status uuid_next(pawl_uuid *id, pawl_error *err) {
    return uuid_generator_next(&process_generator, id, err);
}

/* The places of the hyphens in the text form. */
static bool is_hyphen_place(size_t at) { return at == 8 || at == 13 || at == 18 || at == 23; }

char *uuid_format(pawl_uuid id, char text[static UUID_TEXT_BYTES]) {
    static const char hex[] = "0123456789abcdef";
    size_t at = 0;
    for (size_t i = 0; i < sizeof id.b; i++) {
        if (is_hyphen_place(at))
            text[at++] = '-';
        text[at++] = hex[id.b[i] >> 4];
        text[at++] = hex[id.b[i] & 15];
    }
    text[at] = '\0';
    return text;
}

bool uuid_parse(pawl_str text, pawl_uuid *id) {
    pawl_uuid parsed = {{0}};
    size_t digits = 0;
    if (text.len != UUID_TEXT_BYTES - 1)
        return false;
    for (size_t at = 0; at < text.len; at++) {
        if (is_hyphen_place(at)) {
            if (text.ptr[at] != '-')
                return false;
            continue;
        }
        int value = hex_digit(text.ptr[at]);
        if (value < 0)
            return false;
        parsed.b[digits / 2] = (uint8_t)(parsed.b[digits / 2] << 4 | value);
        digits++;
    }
    *id = parsed;
    return true;
}

int uuid_compare(pawl_uuid a, pawl_uuid b) { return memcmp(a.b, b.b, sizeof a.b); }

bool uuid_equal(pawl_uuid a, pawl_uuid b) { return uuid_compare(a, b) == 0; }

pawl_uuid uuid_nil(void) { return (pawl_uuid){{0}}; }

bool uuid_is_nil(pawl_uuid id) { return uuid_equal(id, uuid_nil()); }

int64_t uuid_time_ms(pawl_uuid id) {
    if (id.b[6] >> 4 != 7)
        return -1;
    int64_t time_ms = 0;
    for (int i = 0; i < 6; i++)
        time_ms = time_ms << 8 | id.b[i];
    return time_ms;
}

bool uuid_range(pawl_str text, pawl_uuid *low, pawl_uuid *high) {
    static const char form[] = "00000000-0000-0000-0000-000000000000";
    char lows[UUID_TEXT_BYTES], highs[UUID_TEXT_BYTES];
    if (text.len == 0 || text.len > sizeof form - 1)
        return false;
    for (size_t i = 0; i < sizeof form - 1; i++) {
        lows[i] = i < text.len ? text.ptr[i] : form[i];
        highs[i] = i < text.len ? text.ptr[i] : (char)(form[i] == '-' ? '-' : 'f');
    }
    pawl_str from = {lows, sizeof form - 1}, to = {highs, sizeof form - 1};
    return uuid_parse(from, low) && uuid_parse(to, high);
}
