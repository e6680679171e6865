/* Times as people write them, in a zone: for tests that name instants. */
#ifndef SUPPORT_ZONE_TIME_H
#define SUPPORT_ZONE_TIME_H

#include "domain/time/zone.h"

/* Reads "2026-03-29T02:30", "2026-03-29 02:30:15.250" (wall time of the zone), the same with Z or an offset
 * (+02:00) after it, or a date alone (midnight). Milliseconds since 1970 UTC. */
PAWL_MUSTCHECK pawl_status zone_parse_time(const struct zone *zone, pawl_str text, int64_t *at_ms,
                                           pawl_error *err);

/* "2026-03-29T03:00:00+02:00"; years 0000 to 9999, anything else is clamped. Returns text. */
enum { ZONE_TIME_BYTES = 40 };
char *zone_format_time(const struct zone *zone, int64_t at_ms, char text[static ZONE_TIME_BYTES]);

#endif
