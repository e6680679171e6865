/* Cron ticks in a time zone, including what happens when clocks change. */
#include "domain/time/cron.h"

#include "base/time/civil.h"

/*
 * The zone's time is a sequence of spans with one offset each; within a span, wall time and elapsed time run
 * in parallel.
 *
 * An expression for every hour follows elapsed time: every instant whose wall time matches is a tick. One
 * with fixed hours follows the latest wall time shown so far: a tick occurs when that reaches or passes a
 * match. So a wall time that occurs twice ticks once (the first time), and those that a jump skips tick
 * together, once, where the jump ends.
 */

#define INSTANT_S_MIN INT64_C(-62135596800) /* year 1 */
#define INSTANT_S_MAX INT64_C(253402300799) /* year 9999 */

/* Wall times of the span at which ticks are possible. */
static int64_t first_wall(const struct cron *cron, const struct zone_span *span, int64_t shown_s) {
    int64_t from_s = span->from_s + span->offset_s;
    return cron->fixed_hours && shown_s > from_s ? shown_s : from_s;
}

/* Whether the jump at the span's beginning skipped a match. */
static bool jump_ticks(const struct cron *cron, const struct zone_span *span, int64_t shown_s) {
    int64_t match_s = 0;
    return cron->fixed_hours && shown_s < span->from_s + span->offset_s &&
           shown_s >= INSTANT_S_MIN - CIVIL_DAY_S * 2 && cron_wall_next(cron, shown_s, &match_s) &&
           match_s < span->from_s + span->offset_s;
}

bool cron_next(const struct cron *cron, const struct zone *zone, int64_t after_s, int64_t *at_s) {
    if (after_s >= INSTANT_S_MAX)
        return false;
    int64_t from_s = after_s < INSTANT_S_MIN ? INSTANT_S_MIN : after_s + 1;
    /* A match found beyond a span's end is valid for the next span too, unless the clock went back. */
    int64_t searched_s = INT64_MAX;
    int64_t match_s = 0;
    for (struct zone_span span = zone_span_at(zone, from_s); span.from_s <= INSTANT_S_MAX;
         span = zone_span_at(zone, span.until_s)) {
        int64_t shown_s = cron->fixed_hours ? zone_wall_before(zone, &span) : span.from_s;
        if (span.from_s >= from_s && jump_ticks(cron, &span, shown_s)) {
            *at_s = span.from_s;
            return true;
        }
        int64_t wall_s = first_wall(cron, &span, shown_s);
        if (wall_s < from_s + span.offset_s)
            wall_s = from_s + span.offset_s;
        if (wall_s < searched_s || wall_s > match_s) {
            if (!cron_wall_next(cron, wall_s, &match_s))
                return false;
            searched_s = wall_s;
        }
        if (match_s < span.until_s + span.offset_s) {
            *at_s = match_s - span.offset_s;
            return *at_s <= INSTANT_S_MAX;
        }
    }
    return false;
}

bool cron_previous(const struct cron *cron, const struct zone *zone, int64_t before_s, int64_t *at_s) {
    if (before_s <= INSTANT_S_MIN)
        return false;
    int64_t until_s = before_s > INSTANT_S_MAX ? INSTANT_S_MAX + 1 : before_s;
    for (struct zone_span span = zone_span_at(zone, until_s - 1);;
         span = zone_span_at(zone, span.from_s - 1)) {
        int64_t shown_s = cron->fixed_hours ? zone_wall_before(zone, &span) : span.from_s;
        int64_t end_s = (span.until_s < until_s ? span.until_s : until_s) + span.offset_s;
        int64_t match_s = 0;
        if (cron_wall_previous(cron, end_s - 1, &match_s) && match_s >= first_wall(cron, &span, shown_s)) {
            *at_s = match_s - span.offset_s;
            return *at_s >= INSTANT_S_MIN;
        }
        if (jump_ticks(cron, &span, shown_s)) {
            *at_s = span.from_s;
            return true;
        }
        if (span.from_s <= INSTANT_S_MIN)
            return false;
    }
}
