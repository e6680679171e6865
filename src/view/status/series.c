/* Series as charts draw them: a time and a value for every step. */
#include "view/status/series.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"

enum { STEPS_WANTED = 360, RANGE_MS_DEFAULT = 3600000 };

const char *const series_scopes[SERIES_HANDLER + 1] = {
    [SERIES_KIND] = "kind", [SERIES_QUEUE] = "queue", [SERIES_HANDLER] = "handler"};

/* ---- The range */

/* A length that people use, of which the range has at most STEPS_WANTED. */
static int64_t step_for(int64_t span_ms) {
    static const int64_t steps_ms[] = {10000,  30000,   60000,   120000,  300000,
                                       900000, 1800000, 3600000, 7200000, 21600000};
    size_t i = 0;
    while (i + 1 < sizeof steps_ms / sizeof *steps_ms && span_ms / steps_ms[i] > STEPS_WANTED)
        i++;
    return steps_ms[i];
}

pawl_status series_range_of(struct series_range *range, pawl_error *err) {
    int64_t to_ms = range->to_ms != 0 ? range->to_ms : range->now_ms + 1;
    int64_t from_ms = range->from_ms != 0 ? range->from_ms : to_ms - RANGE_MS_DEFAULT;
    if (from_ms >= to_ms)
        return error_set(err, PAWL_INVALID, "series", "the range ends before it begins");
    int64_t step_ms = range->step_ms != 0 ? range->step_ms : step_for(to_ms - from_ms);
    step_ms = series_step_ms(step_ms, range->now_ms - from_ms);
    from_ms -= from_ms % step_ms;
    if ((to_ms - from_ms) / step_ms > PAWL_SERIES_POINTS_MAX)
        return error_set(err, PAWL_INVALID, "series",
                         "more than %d steps: ask for longer ones, or for a shorter range",
                         PAWL_SERIES_POINTS_MAX);
    *range = (struct series_range){from_ms, to_ms, step_ms, range->now_ms};
    return PAWL_OK;
}

/* ---- The arrays */

double series_error_percent(int64_t done, int64_t failed) {
    return done + failed > 0 ? 100.0 * (double)failed / (double)(done + failed) : -1;
}

static void add(struct rollup_histogram *sum, const int64_t counts[static ROLLUP_BUCKETS]) {
    for (int i = 0; i < ROLLUP_BUCKETS; i++) {
        sum->counts[i] += counts[i];
        sum->count += counts[i];
    }
}

/* One array of an object: of every step of the range, or of what was seen last in it. */
enum array_of { AT, DONE, FAILED, ERROR, READY, DEAD, OLDEST, HANDLE, WAIT };
struct array {
    const char *key;
    enum array_of of;
    int per_mille; /* HANDLE, WAIT */
};

static const struct array arrays[] = {
    {"at_ms", AT, 0},
    {"done", DONE, 0},
    {"failed", FAILED, 0},
    {"error_percent", ERROR, 0},
    {"ready", READY, 0},
    {"dead", DEAD, 0},
    {"oldest_age_ms", OLDEST, 0},
    {"handle_p50_ms", HANDLE, 500},
    {"handle_p95_ms", HANDLE, 950},
    {"handle_p99_ms", HANDLE, 990},
    {"wait_p50_ms", WAIT, 500},
    {"wait_p95_ms", WAIT, 950},
    {"wait_p99_ms", WAIT, 990},
};

/* null when below 0. */
static void write_number(struct json_writer *json, double value, bool whole) {
    char text[32];
    if (value >= 0)
        snprintf(text, sizeof text, "%.*f", whole ? 0 : value < 10 ? 3 : 1, value);
    json_raw(json, value >= 0 ? str_from(text) : (pawl_str){NULL, 0});
}

static double quantile(const int64_t counts[static ROLLUP_BUCKETS], int per_mille) {
    struct rollup_histogram histogram = {.count = 0};
    add(&histogram, counts);
    return rollup_quantile_ms(&histogram, per_mille);
}

/* at: the row of the step; seen: the latest on which somebody looked. NULL: none. */
static void write_value(struct json_writer *json, const struct array *array, int64_t at_ms,
                        const struct series_row *at, const struct series_row *seen) {
    switch (array->of) {
    case AT:
        json_int(json, at_ms);
        break;
    case DONE:
        json_int(json, at != NULL ? at->done : 0);
        break;
    case FAILED:
        json_int(json, at != NULL ? at->failed : 0);
        break;
    case ERROR:
        write_number(json, at != NULL ? series_error_percent(at->done, at->failed) : -1, false);
        break;
    case READY:
        write_number(json, seen != NULL ? (double)seen->ready : -1, true);
        break;
    case DEAD:
        write_number(json, seen != NULL ? (double)seen->dead : -1, true);
        break;
    case OLDEST:
        write_number(json, seen != NULL ? (double)seen->oldest_age_ms : -1, true);
        break;
    case HANDLE:
        write_number(json, at != NULL ? quantile(at->handle, array->per_mille) : -1, false);
        break;
    case WAIT:
        write_number(json, at != NULL ? quantile(at->wait, array->per_mille) : -1, false);
        break;
    }
}

/* Nobody writes down what has not changed: a value is that of the latest step that has one, up to now. */
static void write_array(struct json_writer *json, const struct array *array, const struct series_row *rows,
                        size_t count, const struct series_range *range) {
    const struct series_row *seen = NULL;
    size_t row = 0;
    json_key(json, array->key);
    json_begin_array(json);
    for (int64_t at_ms = range->from_ms; at_ms < range->to_ms; at_ms += range->step_ms) {
        const struct series_row *at = NULL;
        while (row < count && rows[row].at_ms < at_ms + range->step_ms)
            at = &rows[row++];
        if (at != NULL && at->ready >= 0)
            seen = at;
        write_value(json, array, at_ms, at, at_ms <= range->now_ms ? seen : NULL);
    }
    json_end_array(json);
}

size_t series_write(struct json_writer *json, const struct series_rows *rows, size_t first,
                    const struct series_range *range, struct series_totals *sums) {
    const struct series_row *last = &rows->rows[first];
    size_t count = 0;
    bool looked = last->scope != SERIES_HANDLER;
    *sums = (struct series_totals){.ready = looked ? last->ready : -1, .dead = looked ? last->dead : -1};
    while (first + 1 + count < rows->count && rows->rows[first + 1 + count].at_ms >= 0) {
        const struct series_row *row = &rows->rows[first + ++count];
        sums->done += row->done;
        sums->failed += row->failed;
        add(&sums->handle, row->handle);
        add(&sums->wait, row->wait);
        if (row->ready >= 0)
            sums->oldest_age_ms = row->oldest_age_ms;
    }
    json_begin_object(json);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        write_array(json, &arrays[i], last + 1, count, range);
    json_end_object(json);
    return count + 1;
}
