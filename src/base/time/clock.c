/* Clocks and durations: reading, parsing and formatting them. */
#include "base/time/clock.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/civil.h"
#include "base/uuid.h"

static int64_t read_us(clockid_t id) {
    struct timespec now;
    int rc = clock_gettime(id, &now);
    assert(rc == 0); /* fails only for a clock that the kernel does not have */
    (void)rc;
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t clock_boot_us(void) { return read_us(CLOCK_BOOTTIME); }

int64_t clock_boot_ms(void) { return read_us(CLOCK_BOOTTIME) / 1000; }

struct timespec clock_monotonic_after(int64_t wait_ms) {
    int64_t at_us = read_us(CLOCK_MONOTONIC) + (wait_ms > 0 ? wait_ms : 0) * 1000;
    return (struct timespec){(time_t)(at_us / 1000000), (long)(at_us % 1000000) * 1000};
}

int64_t clock_wall_ms(void) { return read_us(CLOCK_REALTIME) / 1000; }

int64_t clock_wall_us(void) { return read_us(CLOCK_REALTIME); }

pawl_status clock_boot_id(pawl_uuid *boot_id, pawl_error *err) {
    const char *path = "/proc/sys/kernel/random/boot_id";
    char text[64] = "";
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return error_errno(err, PAWL_UNAVAILABLE, "clock_boot_id", errno, "cannot open %s", path);
    size_t len = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file); /* read only: nothing can be lost */
    pawl_str trimmed = str_trim((pawl_str){text, len});
    if (!uuid_parse(trimmed, boot_id))
        return error_set(err, PAWL_UNAVAILABLE, "clock_boot_id", "%s does not hold a UUID", path);
    return PAWL_OK;
}

char *clock_format_iso(int64_t wall_ms, char text[static CLOCK_ISO_BYTES]) {
    const int64_t first_ms = -62167219200000; /* 0000-01-01T00:00:00.000Z */
    const int64_t last_ms = 253402300799999;  /* 9999-12-31T23:59:59.999Z */
    const int64_t day_ms = 86400000;
    if (wall_ms < first_ms)
        wall_ms = first_ms;
    if (wall_ms > last_ms)
        wall_ms = last_ms;
    int64_t days = civil_floor_div(wall_ms, day_ms);
    int64_t rest = wall_ms - days * day_ms;
    struct civil date = civil_from_days(days);
    snprintf(text, CLOCK_ISO_BYTES, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", (unsigned)date.year % 10000,
             (unsigned)date.month % 100, (unsigned)date.day % 100, (unsigned)(rest / 3600000) % 100,
             (unsigned)(rest / 60000 % 60), (unsigned)(rest / 1000 % 60), (unsigned)(rest % 1000));
    return text;
}

struct unit {
    const char *suffix;
    int64_t ms;
};

/* Largest first, so that formatting finds the shortest exact form. */
static const struct unit units[] = {{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};

static const struct unit *unit_find(pawl_str suffix) {
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (str_equal_cstr(suffix, units[i].suffix))
            return &units[i];
    return NULL;
}

bool clock_parse_duration(pawl_str text, int64_t *duration_ms) {
    size_t whole = 0;
    while (whole < text.len && text.ptr[whole] >= '0' && text.ptr[whole] <= '9')
        whole++;
    int64_t number = 0;
    if (!str_to_i64((pawl_str){text.ptr, whole}, 0, INT64_MAX, &number) || text.ptr[0] == '+')
        return false;
    if (whole == text.len) { /* only zero needs no unit: "30" could mean anything */
        if (number != 0)
            return false;
        *duration_ms = 0;
        return true;
    }
    size_t end = whole;
    int64_t thousandths = 0;
    if (text.ptr[whole] == '.') {
        int64_t weight = 100;
        for (end = whole + 1; end < text.len && text.ptr[end] >= '0' && text.ptr[end] <= '9'; end++) {
            thousandths += weight * (text.ptr[end] - '0');
            weight /= 10;
        }
        if (end == whole + 1 || end - whole > 4) /* at least one digit, at most three */
            return false;
    }
    const struct unit *unit = unit_find((pawl_str){text.ptr + end, text.len - end});
    int64_t total = 0;
    if (unit == NULL || __builtin_mul_overflow(number, unit->ms, &total) ||
        __builtin_add_overflow(total, thousandths * unit->ms / 1000, &total))
        return false;
    *duration_ms = total;
    return true;
}

char *clock_format_duration(int64_t duration_ms, char text[static CLOCK_DURATION_BYTES]) {
    const struct unit *unit = &units[0];
    if (duration_ms == 0) {
        memcpy(text, "0", 2);
        return text;
    }
    while (duration_ms % unit->ms != 0)
        unit++;
    snprintf(text, CLOCK_DURATION_BYTES, "%" PRId64 "%s", duration_ms / unit->ms, unit->suffix);
    return text;
}
