/* Time zones from tzdata: the offset at an instant. */
#ifndef DOMAIN_TIME_ZONE_H
#define DOMAIN_TIME_ZONE_H

#include "pawl.h"

/*
 * Immutable once created, so threads share it. libc's time zone functions (TZ, tzset, localtime) are not
 * used. Instants are seconds since 1970 UTC; a wall time is what a clock on the wall of the zone shows, as
 * seconds since 1970-01-01 00:00 of that clock.
 */
struct zone;

/* The zone of a TZif file's bytes (version 2 or later: 64-bit times and a rule for the years after them). The
 * bytes need not be trusted: malformed data is PAWL_INVALID, with the offset of the byte. */
PAWL_MUSTCHECK pawl_status zone_parse(pawl_str name, pawl_str bytes, struct zone **zone, pawl_error *err);

/* Reads the zone from dir (NULL: the system's tzdata). "UTC" and the absent name need no file. PAWL_INVALID
 * if there is no such zone; the text suggests a similar name. */
PAWL_MUSTCHECK pawl_status zone_load(const char *dir, pawl_str name, struct zone **zone, pawl_error *err);

void zone_free(struct zone *zone); /* takes NULL */

pawl_str zone_name(const struct zone *zone);

/* A stretch of time with one offset: from from_s, before until_s. The first starts at INT64_MIN / 2, the last
 * ends at INT64_MAX / 2. */
struct zone_span {
    int64_t from_s, until_s;
    int32_t offset_s; /* east of UTC */
};

/* The span that an instant lies in. */
struct zone_span zone_span_at(const struct zone *zone, int64_t utc_s);

/* The highest wall time that the zone's clock showed before the span began (exclusive); below span.from_s +
 * span.offset_s when the clock jumped over some, above it when it was put back. */
int64_t zone_wall_before(const struct zone *zone, const struct zone_span *span);

#endif
