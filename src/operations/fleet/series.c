/* Operations on series: what happened over the last 30 days. */
#include "view/status/series.h"
#include "base/str.h"
#include "operations/tables.h"

/* In the table what people compare; in JSON the arrays of a chart as well. */
static const struct column series_columns[] = {{COLUMN(TEXT, "of")},
                                               {COLUMN(TEXT, "kind")},
                                               {COLUMN(TEXT, "name"), .cut = true},
                                               {COLUMN(INT, "ready")},
                                               {COLUMN(INT, "dead"), .drop = 4},
                                               {COLUMN(INT, "done")},
                                               {COLUMN(INT, "failed")},
                                               {COLUMN(JSON, "error_percent")},
                                               {COLUMN(JSON, "handle_p50_ms"), .drop = 2},
                                               {COLUMN(JSON, "handle_p95_ms")},
                                               {COLUMN(JSON, "handle_p99_ms"), .show = SHOW_WIDE},
                                               {COLUMN(JSON, "wait_p50_ms"), .drop = 3},
                                               {COLUMN(JSON, "wait_p95_ms"), .drop = 1},
                                               {COLUMN(JSON, "wait_p99_ms"), .show = SHOW_WIDE},
                                               {COLUMN(INT, "step_ms"), .show = SHOW_JSON},
                                               {COLUMN(JSON, "points"), .show = SHOW_JSON}};

static struct cell number_cell(struct request *request, double value) {
    return value >= 0 ? cell_cstr(arena_printf(request->arena, "%.*f", value < 10 ? 2 : 0, value))
                      : cell_none();
}

static struct cell gauge_cell(int64_t value) { return value >= 0 ? cell_int(value) : cell_none(); }

/* The series that begins at a row; returns how many rows it has. */
static size_t add_series(struct request *request, const struct series_rows *rows, size_t first,
                         const struct series_range *range, struct buf *points) {
    const struct series_row *row = &rows->rows[first];
    struct series_totals sums;
    struct json_writer json;
    bool of_kind = row->scope == SERIES_KIND;
    buf_reset(points);
    json_writer_init(&json, points);
    size_t count = series_write(&json, rows, first, range, &sums);
    const struct cell cells[] = {cell_cstr(series_scopes[row->scope]),
                                 row->kind != 0 ? cell_cstr(rollup_kind_name((enum rollup_kind)row->kind))
                                                : cell_none(),
                                 of_kind ? cell_cstr(rollup_kind_name((enum rollup_kind)row->kind))
                                 : row->name.len > 0 ? cell_text(row->name)
                                                     : cell_none(),
                                 gauge_cell(sums.ready),
                                 gauge_cell(sums.dead),
                                 cell_int(sums.done),
                                 cell_int(sums.failed),
                                 number_cell(request, series_error_percent(sums.done, sums.failed)),
                                 number_cell(request, rollup_quantile_ms(&sums.handle, 500)),
                                 number_cell(request, rollup_quantile_ms(&sums.handle, 950)),
                                 number_cell(request, rollup_quantile_ms(&sums.handle, 990)),
                                 number_cell(request, rollup_quantile_ms(&sums.wait, 500)),
                                 number_cell(request, rollup_quantile_ms(&sums.wait, 950)),
                                 number_cell(request, rollup_quantile_ms(&sums.wait, 990)),
                                 cell_int(range->step_ms),
                                 cell_text(buf_str(points))};
    request_row(request, cells);
    return count;
}

enum { OF_ANY = SERIES_HANDLER + 1 }; /* after the scopes, in the list of choices */

static pawl_status series_list(struct request *request, pawl_error *err) {
    struct series_rows rows = {.count = 0};
    struct series_range range = {.from_ms = request_number(request, "from_ms", 0),
                                 .to_ms = request_number(request, "to_ms", 0),
                                 .step_ms = request_number(request, "step_ms", 0)};
    pawl_status status = request->store->ops->core.clock_read(request->store, &range.now_ms, err);
    if (status == PAWL_OK)
        status = series_range_of(&range, err);
    if (status != PAWL_OK)
        return status;
    const int of = request_choice(request, "of");
    const struct series_ask ask = {.scope = of == OF_ANY ? 0
                                            : of == 0 && str_absent(request_text(request, "name"))
                                                ? SERIES_KIND
                                                : of,
                                   .kind = request_choice(request, "kind"),
                                   .name = request_text(request, "name"),
                                   .from_ms = range.from_ms,
                                   .to_ms = range.to_ms,
                                   .step_ms = range.step_ms};
    status = request->store->ops->view.series(request->store, &ask, request->arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    struct buf points;
    buf_init(&points, 0);
    request_list(request, series_columns, COLUMN_COUNT(series_columns));
    for (size_t i = 0; i < rows.count && status == PAWL_OK;) {
        i += add_series(request, &rows, i, &range, &points);
        status = buf_status(&points, "series", err);
    }
    buf_free(&points);
    return status == PAWL_OK ? request_list_end(request, NULL, err) : status;
}

static const struct field list_fields[] = {
    {CHOICE_FIELD(IN_QUERY, "of", "kind|queue|handler|any",
                  "Only series of this sort; kind by default, any if there is a name.")},
    {CHOICE_FIELD(IN_QUERY, "kind", "outbox|inbox|perspective|job|page", "Only of this kind of work.")},
    {TEXT_FIELD(IN_QUERY, "name", PAWL_NAME_BYTES_MAX, "Only the queue or handler of this name.")},
    {TIME_FIELD(IN_QUERY, "from_ms", "The beginning of the range; an hour before its end by default.")},
    {TIME_FIELD(IN_QUERY, "to_ms", "The end of the range; now by default.")},
    {DURATION_FIELD(IN_QUERY, "step_ms", 10000, INT64_C(2592000000),
                    "The time from one point to the next; by default one that gives at most 360 points.")}};

static const struct operation operations[] = {
    {OPERATION("series.list", "Show throughput, errors, backlog and times of the last hours or days"),
     READS("/v1/series"), FIELDS(list_fields), COLUMNS(series_columns), .run = series_list,
     .details =
         "A row sums up the range; in JSON its points are one array per value, each with an element per "
         "step: at_ms is when the step begins, done and failed are counts of the step, ready, dead and "
         "oldest_age_ms the highest that was seen in it. null: nothing was counted, or seen. The step of "
         "the answer, step_ms, is longer than the one asked for where less is kept: an hour in steps of 10 "
         "seconds, a day in minutes, 30 days in quarters of an hour. There are at most 1,000 steps.\n"
         "A quantile is within the bucket of a histogram, so it is off by a factor of 2.5 at most. Beyond "
         "32 queues, or handlers, the rest have one series together, without a name.",
     .example = "pawl series list --of queue --from 24h\n"
                "pawl series list --of kind --kind job -o json | jq '.[0].points.handle_p95_ms'",
     .empty = "nothing has been counted yet"},
};

const struct operation_table series_operations = OPERATION_TABLE(operations);
