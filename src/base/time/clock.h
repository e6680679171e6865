/* Clocks: monotonic time for durations and leases, wall time for display only. */
#ifndef BASE_TIME_CLOCK_H
#define BASE_TIME_CLOCK_H

#include <time.h>

#include "pawl.h"

/* Since boot, counting suspend (CLOCK_BOOTTIME): the clock for durations and leases of one machine. */
int64_t clock_boot_ms(void);
int64_t clock_boot_us(void);

/* This long from now, for pthread_cond_timedwait on CLOCK_MONOTONIC; never in the past. */
struct timespec clock_monotonic_after(int64_t wait_ms);

/* Since 1970 UTC; may jump. For display and logs, never for a decision. */
int64_t clock_wall_ms(void);
int64_t clock_wall_us(void);

/* The id of this boot of the machine; boot-time values from another boot are meaningless. */
PAWL_MUSTCHECK pawl_status clock_boot_id(pawl_uuid *boot_id, pawl_error *err);

/* 2026-01-02T03:04:05.678Z; years 0000 to 9999, anything else is clamped. Returns text. */
enum { CLOCK_ISO_BYTES = 25 };
char *clock_format_iso(int64_t wall_ms, char text[static CLOCK_ISO_BYTES]);

/* "500ms", "30s", "5m", "2h", "7d" or a plain "0" to milliseconds; decimals as in "1.5s" are allowed. */
PAWL_MUSTCHECK bool clock_parse_duration(pawl_str text, int64_t *duration_ms);

/* The shortest exact form that clock_parse_duration reads back: "5m", "1500ms". Returns text. */
enum { CLOCK_DURATION_BYTES = 24 };
char *clock_format_duration(int64_t duration_ms, char text[static CLOCK_DURATION_BYTES]);

#endif
