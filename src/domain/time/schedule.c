/* Checking schedule rules, and computing their ticks. */
#include "domain/time/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/time/civil.h"

struct schedule {
    struct schedule_rule rule; /* its texts lie in text */
    struct cron cron;
    struct zone *zone;
    char text[PAWL_CRON_BYTES_MAX + PAWL_ZONE_NAME_BYTES_MAX + 2];
};

/* There are no ticks beyond this, which leaves room to add jitter and intervals without overflow. */
#define TICK_MS_MAX (INT64_C(253402300799) * 1000)

static pawl_status bad_rule(const char *why, pawl_error *err) {
    return error_set(err, PAWL_INVALID, "schedule_compile", "the schedule %s", why);
}

static pawl_status check_rule(const struct schedule_rule *rule, pawl_error *err) {
    switch (rule->kind) {
    case SCHEDULE_ONCE:
        if (rule->at_ms <= 0 || rule->at_ms > TICK_MS_MAX)
            return bad_rule("runs once but its time is missing: give a time from 1970 to 9999", err);
        break;
    case SCHEDULE_INTERVAL:
        if (rule->interval_ms < PAWL_SCHEDULE_INTERVAL_MS_MIN ||
            rule->interval_ms > PAWL_SCHEDULE_INTERVAL_MS_MAX)
            return bad_rule("has an interval that is not between 1 second and 10 years", err);
        if (rule->at_ms < 0 || rule->at_ms > TICK_MS_MAX)
            return bad_rule("counts its interval from a time that is not from 1970 to 9999", err);
        break;
    case SCHEDULE_CRON:
        break;
    default:
        return bad_rule("is neither once, nor an interval, nor cron", err);
    }
    if (rule->start_ms < 0 || rule->end_ms < 0 || (rule->end_ms > 0 && rule->end_ms <= rule->start_ms))
        return bad_rule("ends before it starts", err);
    if (rule->jitter_ms < 0 || rule->jitter_ms > PAWL_SCHEDULE_JITTER_MS_MAX)
        return bad_rule("has a jitter that is not between 0 and 24 hours", err);
    if (rule->late_ms < 0 || rule->late_ms > PAWL_SCHEDULE_LATE_MS_MAX)
        return bad_rule("has a lateness that is not between 0 and 24 hours", err);
    if (rule->missed_max < 0 || rule->missed_max > PAWL_SCHEDULE_MISSED_MAX)
        return bad_rule("wants more than 1000 missed ticks made up for", err);
    if (rule->missed != SCHEDULE_MISSED_ONE && rule->missed != SCHEDULE_MISSED_SKIP &&
        rule->missed != SCHEDULE_MISSED_ALL)
        return bad_rule("has no such policy for missed ticks: take one, skip or all", err);
    return PAWL_OK;
}

static pawl_str keep_text(char *place, pawl_str text) {
    if (text.len > 0)
        memcpy(place, text.ptr, text.len);
    place[text.len] = '\0';
    return (pawl_str){place, text.len};
}

static pawl_status compile_cron(struct schedule *made, const char *zone_dir, pawl_error *err) {
    pawl_status status = cron_parse(made->rule.cron, &made->cron, err);
    if (status == PAWL_OK)
        status = zone_load(zone_dir, made->rule.zone, &made->zone, err);
    if (status != PAWL_OK)
        return status;
    /* Both were accepted, so both are short enough. */
    pawl_str cron = str_trim(made->rule.cron);
    made->rule.cron = keep_text(made->text, cron);
    made->rule.zone = keep_text(made->text + cron.len + 1, zone_name(made->zone));
    return PAWL_OK;
}

pawl_status schedule_compile(const struct schedule_rule *rule, const char *zone_dir,
                             struct schedule **schedule, pawl_error *err) {
    pawl_status status = check_rule(rule, err);
    if (status != PAWL_OK)
        return status;
    struct schedule *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_no_memory(err, "schedule_compile");
    made->rule = *rule;
    if (made->rule.missed_max == 0)
        made->rule.missed_max = PAWL_SCHEDULE_MISSED_DEFAULT;
    if (made->rule.late_ms == 0)
        made->rule.late_ms = PAWL_SCHEDULE_LATE_MS_DEFAULT;
    if (rule->kind == SCHEDULE_CRON) {
        status = compile_cron(made, zone_dir, err);
    } else {
        made->rule.cron = made->rule.zone = (pawl_str){NULL, 0};
        status = zone_load(zone_dir, made->rule.zone, &made->zone, err);
    }
    int64_t tick_ms = 0;
    if (status == PAWL_OK && !schedule_next(made, -1, &tick_ms))
        status = bad_rule("has no tick between its start and its end", err);
    if (status == PAWL_OK)
        *schedule = made;
    else
        schedule_free(made);
    return status;
}

void schedule_free(struct schedule *schedule) {
    if (schedule != NULL)
        zone_free(schedule->zone);
    free(schedule);
}

const struct schedule_rule *schedule_rule(const struct schedule *schedule) { return &schedule->rule; }

/* The first tick at or after a time, or backwards the last at or before it, ignoring start and end. */
static bool tick_near(const struct schedule *schedule, int64_t near_ms, bool forward, int64_t *tick_ms) {
    const struct schedule_rule *rule = &schedule->rule;
    if (rule->kind == SCHEDULE_ONCE) {
        *tick_ms = rule->at_ms;
        return forward ? rule->at_ms >= near_ms : rule->at_ms <= near_ms;
    }
    if (rule->kind == SCHEDULE_INTERVAL) {
        /* Counted in both directions: at_ms is one of the ticks, not necessarily the first. */
        int64_t steps = forward ? -civil_floor_div(rule->at_ms - near_ms, rule->interval_ms)
                                : civil_floor_div(near_ms - rule->at_ms, rule->interval_ms);
        *tick_ms = rule->at_ms + steps * rule->interval_ms;
        return !forward || *tick_ms <= TICK_MS_MAX;
    }
    int64_t tick_s = 0;
    if (forward
            ? !cron_next(&schedule->cron, schedule->zone, civil_floor_div(near_ms - 1, 1000), &tick_s)
            : !cron_previous(&schedule->cron, schedule->zone, civil_floor_div(near_ms, 1000) + 1, &tick_s))
        return false;
    *tick_ms = tick_s * 1000;
    return true;
}

static int64_t clamp_ms(int64_t at_ms) {
    return at_ms < -TICK_MS_MAX ? -TICK_MS_MAX : at_ms > TICK_MS_MAX ? TICK_MS_MAX : at_ms;
}

bool schedule_next(const struct schedule *schedule, int64_t after_ms, int64_t *tick_ms) {
    int64_t from_ms = clamp_ms(after_ms) + 1;
    if (from_ms < schedule->rule.start_ms)
        from_ms = schedule->rule.start_ms;
    int64_t found_ms = 0;
    if (!tick_near(schedule, from_ms, true, &found_ms) ||
        (schedule->rule.end_ms > 0 && found_ms >= schedule->rule.end_ms))
        return false;
    *tick_ms = found_ms;
    return true;
}

bool schedule_previous(const struct schedule *schedule, int64_t before_ms, int64_t *tick_ms) {
    int64_t until_ms = clamp_ms(before_ms) - 1;
    if (schedule->rule.end_ms > 0 && until_ms >= schedule->rule.end_ms)
        until_ms = schedule->rule.end_ms - 1;
    int64_t found_ms = 0;
    if (!tick_near(schedule, until_ms, false, &found_ms) || found_ms < schedule->rule.start_ms)
        return false;
    *tick_ms = found_ms;
    return true;
}

size_t schedule_preview(const struct schedule *schedule, int64_t after_ms, int64_t *ticks_ms, size_t count) {
    size_t found = 0;
    while (found < count && schedule_next(schedule, after_ms, &ticks_ms[found]))
        after_ms = ticks_ms[found++];
    return found;
}

int64_t schedule_due_ms(const struct schedule *schedule, const pawl_uuid *id, int64_t tick_ms) {
    if (schedule->rule.jitter_ms == 0)
        return tick_ms;
    uint8_t key[sizeof(id->b) + sizeof(uint64_t)];
    memcpy(key, id->b, sizeof(id->b));
    for (size_t i = 0; i < sizeof(uint64_t); i++)
        key[sizeof(id->b) + i] = (uint8_t)((uint64_t)tick_ms >> (8 * i));
    uint64_t hash = fnv1a64((pawl_str){(const char *)key, sizeof(key)});
    hash ^= hash >> 32; /* the low bits of neighbouring ticks are too similar */
    hash *= UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 29;
    return tick_ms + (int64_t)(hash % ((uint64_t)schedule->rule.jitter_ms + 1));
}

/* How many ticks lie in (after_ms, until_ms), counted up to a bound. */
static uint64_t count_ticks(const struct schedule *schedule, int64_t after_ms, int64_t until_ms) {
    uint64_t count = 0;
    int64_t tick_ms = 0;
    while (count < PAWL_SCHEDULE_COUNT_MAX && schedule_next(schedule, after_ms, &tick_ms) &&
           tick_ms < until_ms) {
        count++;
        after_ms = tick_ms;
    }
    return count;
}

void schedule_fires(const struct schedule *schedule, int64_t after_ms, int64_t now_ms,
                    struct schedule_fires *fires) {
    const struct schedule_rule *rule = &schedule->rule;
    size_t wanted = rule->missed == SCHEDULE_MISSED_ALL ? (size_t)rule->missed_max : 1;
    int64_t newest_ms[PAWL_SCHEDULE_MISSED_MAX] = {0}; /* descending */
    size_t found = 0;
    int64_t before_ms = clamp_ms(now_ms) + 1;
    int64_t tick_ms = 0;
    while (found < wanted && schedule_previous(schedule, before_ms, &tick_ms) && tick_ms > after_ms) {
        newest_ms[found++] = tick_ms;
        before_ms = tick_ms;
    }
    fires->handled_ms = found > 0 && newest_ms[0] > after_ms ? newest_ms[0] : after_ms;
    fires->dropped = found > 0 ? count_ticks(schedule, after_ms, newest_ms[found - 1]) : 0;
    if (rule->missed == SCHEDULE_MISSED_SKIP && found > 0 && now_ms - newest_ms[0] > rule->late_ms) {
        fires->dropped++;
        found = 0;
    }
    fires->count = found;
    for (size_t i = 0; i < found; i++)
        fires->ticks_ms[i] = newest_ms[found - 1 - i];
    fires->ended = !schedule_next(schedule, now_ms > after_ms ? now_ms : after_ms, &tick_ms);
    fires->next_ms = fires->ended ? 0 : tick_ms;
}
