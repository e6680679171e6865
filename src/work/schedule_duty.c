/* Firing due schedules, and checking new ones. */
#include "work/schedule_duty.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/time/civil.h"
#include "base/time/clock.h"

/* A fixed number of digits as a number. */
static bool digits(pawl_str text, size_t at, size_t count, int64_t max, int64_t *value) {
    return at + count <= text.len && text.ptr[at] != '-' && text.ptr[at] != '+' &&
           str_to_i64((pawl_str){text.ptr + at, count}, 0, max, value);
}

bool schedule_parse_instant(pawl_str text, int64_t *instant_ms) {
    int64_t year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, fraction = 0, off_h = 0,
            off_m = 0;
    if (str_to_i64(text, 0, INT64_C(253402300799999), instant_ms))
        return true;
    bool good = text.len >= 20 && digits(text, 0, 4, 9999, &year) && text.ptr[4] == '-' &&
                digits(text, 5, 2, 12, &month) && text.ptr[7] == '-' && digits(text, 8, 2, 31, &day) &&
                (text.ptr[10] == 'T' || text.ptr[10] == ' ') && digits(text, 11, 2, 23, &hour) &&
                text.ptr[13] == ':' && digits(text, 14, 2, 59, &minute) && text.ptr[16] == ':' &&
                digits(text, 17, 2, 59, &second);
    if (!good || month < 1 || day < 1 || day > civil_month_days(year, (int)month))
        return false;
    size_t at = 19;
    if (text.ptr[at] == '.') {
        size_t from = ++at;
        int64_t scale = 100;
        for (; at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9'; at++, scale /= 10)
            fraction += (text.ptr[at] - '0') * scale;
        if (at == from)
            return false;
    }
    int64_t sign = 0;
    if (at < text.len && (text.ptr[at] == '+' || text.ptr[at] == '-')) {
        sign = text.ptr[at] == '+' ? 1 : -1;
        if (text.len != at + 6 || !digits(text, at + 1, 2, 23, &off_h) || text.ptr[at + 3] != ':' ||
            !digits(text, at + 4, 2, 59, &off_m))
            return false;
    } else if (text.len != at + 1 || text.ptr[at] != 'Z') {
        return false;
    }
    int64_t days = civil_to_days(year, (int)month, (int)day);
    int64_t seconds = days * CIVIL_DAY_S + hour * 3600 + minute * 60 + second -
                      sign * (off_h * 3600 + off_m * 60);
    *instant_ms = seconds * 1000 + fraction;
    return true;
}

pawl_status schedule_rule_of(const struct job_schedule *in, struct schedule_rule *rule, pawl_error *err) {
    static const enum schedule_missed missed[] = {[MISSED_SKIP] = SCHEDULE_MISSED_SKIP,
                                                  [MISSED_ONE] = SCHEDULE_MISSED_ONE,
                                                  [MISSED_ALL] = SCHEDULE_MISSED_ALL};
    *rule = (struct schedule_rule){.zone = in->zone,
                                   .start_ms = in->start_ms,
                                   .end_ms = in->end_ms,
                                   .jitter_ms = in->jitter_ms,
                                   .missed = missed[in->missed],
                                   .missed_max = in->missed_max};
    switch (in->kind) {
    case JOB_SCHEDULE_ONCE:
    case JOB_SCHEDULE_AT:
        rule->kind = SCHEDULE_ONCE;
        if (!schedule_parse_instant(in->expr, &rule->at_ms))
            return error_set(err, PAWL_INVALID, "schedule",
                             "'%.*s' is not a time such as 2026-01-02T03:04:05Z", STR_ARG(in->expr));
        break;
    case JOB_SCHEDULE_INTERVAL:
        rule->kind = SCHEDULE_INTERVAL;
        rule->at_ms = in->start_ms;
        if (!clock_parse_duration(in->expr, &rule->interval_ms))
            return error_set(err, PAWL_INVALID, "schedule", "'%.*s' is not a duration such as 5m",
                             STR_ARG(in->expr));
        break;
    case JOB_SCHEDULE_CRON:
        rule->kind = SCHEDULE_CRON;
        rule->cron = in->expr;
        break;
    }
    return PAWL_OK;
}

pawl_status schedule_first(const struct job_schedule *in, int64_t now_ms, int64_t *first_ms,
                           pawl_error *err) {
    struct schedule_rule rule;
    struct schedule *compiled = NULL;
    char now[CLOCK_ISO_BYTES], last[CLOCK_ISO_BYTES];
    pawl_status status = schedule_rule_of(in, &rule, err);
    if (status == PAWL_OK)
        status = schedule_compile(&rule, NULL, &compiled, err);
    if (status != PAWL_OK)
        return status;
    bool found = schedule_next(compiled, now_ms - 1, first_ms);
    schedule_free(compiled);
    if (found)
        return PAWL_OK;
    clock_format_iso(now_ms, now);
    if (in->kind == JOB_SCHEDULE_AT && rule.at_ms < now_ms)
        return error_set(err, PAWL_INVALID, "schedule",
                         "it would never fire: %s has passed (the database's clock says %s); give a later "
                         "time, or run the task now (pawl task run)",
                         clock_format_iso(rule.at_ms, last), now);
    return error_set(err, PAWL_INVALID, "schedule",
                     "it would never fire: there is no instant between now (%s by the database's clock) and "
                     "its end (%s); give a later end",
                     now, rule.end_ms > 0 ? clock_format_iso(rule.end_ms, last) : "none");
}

/* The id that a schedule's jitter is drawn from. */
static pawl_status schedule_id_of(pawl_str name, pawl_uuid *id, pawl_error *err) {
    uint8_t digest[SHA256_BYTES];
    pawl_status status = sha256(name, digest, err);
    if (status == PAWL_OK)
        memcpy(id->b, digest, sizeof(id->b));
    return status;
}

static pawl_status fire(struct store *store, const struct job_schedule *in, const struct schedule *schedule,
                        int64_t now_ms, struct arena *arena, struct schedule_duty_result *out,
                        pawl_error *err) {
    struct schedule_fires *fires = arena_alloc(arena, sizeof(*fires));
    int64_t *due_ms = arena_array(arena, PAWL_SCHEDULE_MISSED_MAX, sizeof(*due_ms));
    struct fire_result result = {0};
    pawl_uuid id;
    if (fires == NULL || due_ms == NULL)
        return error_no_memory(err, "schedule");
    pawl_status status = schedule_id_of(in->name, &id, err);
    if (status != PAWL_OK)
        return status;
    /* next_ms is the first undecided instant. */
    schedule_fires(schedule, in->next_ms - 1, now_ms, fires);
    for (size_t i = 0; i < fires->count; i++)
        due_ms[i] = schedule_due_ms(schedule, &id, fires->ticks_ms[i]);
    struct schedule_fire call = {.name = in->name,
                                 .version = in->version,
                                 .after_ms = in->last_ms,
                                 .instants = fires->ticks_ms,
                                 .due_ms = due_ms,
                                 .count = fires->count,
                                 .through_ms = fires->handled_ms,
                                 .next_ms = fires->ended ? 0 : fires->next_ms};
    status = store->ops->jobs->schedule_fire(store, &call, arena, &result, err);
    bool refused = false;
    for (size_t i = 0; status == PAWL_OK && result.answer == ANSWER_APPLIED && i < fires->count; i++) {
        out->fired += result.answers[i] == ANSWER_APPLIED;
        refused = refused || result.answers[i] == ANSWER_REFUSED;
    }
    if (refused && out->refused++ == 0)
        snprintf(out->refusal, sizeof(out->refusal), "%.*s", STR_ARG(in->name));
    return status;
}

pawl_status schedule_duty(struct store *store, struct schedule_duty_result *result, pawl_error *err) {
    struct schedule_filter due = {.due = true, .limit = SCHEDULE_DUTY_MAX};
    struct job_schedule_list list = {0};
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_no_memory(err, "schedule");
    pawl_status status = store->ops->jobs->schedules(store, &due, arena, &list, err);
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++) {
        const struct job_schedule *one = &list.schedules[i];
        struct schedule_rule rule;
        struct schedule *schedule = NULL;
        pawl_error why = {0};
        pawl_status sound = schedule_rule_of(one, &rule, &why);
        if (sound == PAWL_OK)
            sound = schedule_compile(&rule, NULL, &schedule, &why);
        if (sound != PAWL_OK) {
            if (result->faulty++ == 0)
                snprintf(result->fault, sizeof(result->fault), "%.*s: %.150s", STR_ARG(one->name), why.text);
            continue;
        }
        status = fire(store, one, schedule, list.now_ms, arena, result, err);
        schedule_free(schedule);
    }
    arena_free(arena);
    return status;
}

static pawl_status jobs_pending(struct store *store, struct arena *arena, bool *pending, pawl_error *err) {
    struct job_counts_list counts = {0};
    pawl_status status = store->ops->jobs->counts(store, arena, &counts, err);
    *pending = false;
    for (size_t i = 0; status == PAWL_OK && i < counts.count; i++) {
        const struct job_counts *queue = &counts.queues[i];
        *pending = *pending || job_counts_unfinished(queue) > 0;
    }
    return status;
}

pawl_status schedule_free_ms(struct store *store, int64_t most_ms, int64_t *free_ms, pawl_error *err) {
    struct schedule_filter all = {.limit = SCHEDULE_DUTY_MAX};
    struct job_schedule_list list = {0};
    bool pending = false;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_no_memory(err, "schedule");
    pawl_status status = jobs_pending(store, arena, &pending, err);
    if (status == PAWL_OK && !pending)
        status = store->ops->jobs->schedules(store, &all, arena, &list, err);
    if (status == PAWL_OK) {
        int64_t least_ms = pending || list.count == SCHEDULE_DUTY_MAX ? 0 : most_ms;
        for (size_t i = 0; i < list.count; i++) {
            const struct job_schedule *one = &list.schedules[i];
            int64_t left_ms = one->next_ms - list.now_ms;
            if (!one->paused && one->next_ms > 0 && left_ms < least_ms)
                least_ms = left_ms > 0 ? left_ms : 0;
        }
        *free_ms = least_ms;
    }
    arena_free(arena);
    return status;
}
