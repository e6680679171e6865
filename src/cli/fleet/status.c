/* pawl status: how much waits, how old it is, how fast it moves, and who works on it. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/time/clock.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "view/counts.h"
#include "view/fleet.h"
#include "view/names.h"
#include "view/output/row.h"
#include "view/queue.h"

enum { RATES = 3, CLOCK_AHEAD_MS_SAID = 1000 };

/* The columns of a kind: its name, its counts, and the rates. */
struct kind_columns {
    struct column columns[ROW_COLUMNS_MAX];
    size_t count;
};

#define ROW struct instance_row
static const struct column worker_columns[] = {
    {.key = "worker", UUID_OF(id)},
    {.key = "service", TEXT_OF(service), .cut = true, .drop = 1},
    {.key = "host", TEXT_OF(host), .cut = true, .drop = 3},
    {.key = "pid", INT_OF(pid), .drop = 2},
    {COLUMN(TEXT, "state")},
    {.key = "beat_age", DURATION_OF(beat_age_ms)},
    {COLUMN(INT, "lanes")},
    {.key = "in_flight", INT_OF(in_flight)},
};
#undef ROW

enum { WORKER_COLUMNS = sizeof worker_columns / sizeof worker_columns[0] };

/* What the command shows. */
struct view {
    struct counts counts;
    struct counts before; /* some time ago, when rates were asked for */
    bool rates;
    struct instance_rows rows;
    struct queue_stats queue;
    int64_t instances[3];   /* active, silent, evicted */
    int64_t clock_ahead_ms; /* this machine's clock against the database's; negative: behind */
};

static void worker_cells(const struct view *view, const struct instance_row *row,
                         struct cell cells[static WORKER_COLUMNS]) {
    int lanes = 0;
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++)
        lanes += row->lanes[kind];
    const struct cell made[] = {cell_cstr(instance_state_name(row, view->counts.now_ms)), cell_int(lanes)};
    row_cells(worker_columns, WORKER_COLUMNS, row, made, cells);
}

/* The half of the question's way counts as ours: a slow network is not a wrong clock. */
static pawl_status clock_compare(struct cli *cli, struct view *view, pawl_error *err) {
    int64_t database_ms = 0;
    int64_t before_ms = clock_wall_ms();
    pawl_status status = cli->store->ops->core.clock_read(cli->store, &database_ms, err);
    view->clock_ahead_ms = before_ms + (clock_wall_ms() - before_ms) / 2 - database_ms;
    return status;
}

/* Per second, rounded; absent when not asked for. */
static struct cell rate_cell(const struct view *view, int64_t now, int64_t before) {
    int64_t span_ms = view->counts.now_ms - view->before.now_ms;
    if (!view->rates || span_ms <= 0)
        return cell_none();
    return cell_int(((now - before) * 1000 + span_ms / 2) / span_ms);
}

/* Rates are shown when asked for, and then before anything that can be left out. */
static void fill_columns(bool rates, struct kind_columns *shown) {
    static const char *const rate_keys[RATES] = {"put_per_s", "done_per_s", "failed_per_s"};
    *shown = (struct kind_columns){.columns = {{COLUMN(TEXT, "kind")}}, .count = 1};
    assert(1 + message_counts.count + RATES <= ROW_COLUMNS_MAX);
    for (size_t i = 0; i < message_counts.count; i++)
        shown->columns[shown->count++] = message_counts.rows[i].column;
    for (size_t i = 0; i < RATES; i++)
        shown->columns[shown->count++] =
            (struct column){COLUMN(INT, rate_keys[i]), .show = rates ? SHOW_ALWAYS : SHOW_WIDE};
}

static void kind_cells(enum store_kind kind, const struct view *view, const struct kind_columns *shown,
                       struct cell cells[static ROW_COLUMNS_MAX]) {
    const struct kind_counts *counts = &view->counts.kind[kind];
    const struct kind_counts *before = &view->before.kind[kind];
    const struct cell made[] = {cell_cstr(kind_name(kind)), rate_cell(view, counts->put, before->put),
                                rate_cell(view, counts->done, before->done),
                                rate_cell(view, counts->failed, before->failed)};
    row_cells(shown->columns, shown->count, counts, made, cells);
}

/* JSON is one object: {"now", "clock_ahead_ms", "instances_…", "kinds": [ … ], "workers": [ … ]}. */
static pawl_status print_json(struct cli *cli, const struct view *view, pawl_error *err) {
    static const struct column outer[] = {{COLUMN(TIME, "now")},
                                          {COLUMN(INT, "clock_ahead_ms")},
                                          {COLUMN(INT, "instances_active")},
                                          {COLUMN(INT, "instances_silent")},
                                          {COLUMN(INT, "instances_evicted")},
                                          {COLUMN(JSON, "kinds")},
                                          {COLUMN(JSON, "workers")},
                                          {COLUMN(INT, "jobs_ready")},
                                          {COLUMN(INT, "jobs_running")},
                                          {COLUMN(INT, "jobs_dead")},
                                          {COLUMN(JSON, "priority_distribution")},
                                          {COLUMN(BOOL, "priority_complete")},
                                          {COLUMN(INT, "total_runs")},
                                          {COLUMN(INT, "successful_runs")}};
    struct kind_columns shown;
    struct buf kinds, workers;
    fill_columns(view->rates, &shown);
    buf_init(&kinds, 0);
    buf_init(&workers, 0);
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        struct cell cells[ROW_COLUMNS_MAX];
        kind_cells((enum store_kind)kind, view, &shown, cells);
        buf_append_char(&kinds, kind == KIND_OUTBOX ? '[' : ',');
        output_cells_json(&kinds, shown.columns, shown.count, cells);
    }
    buf_append_char(&kinds, ']');
    buf_append_char(&workers, '[');
    for (size_t i = 0; i < view->rows.count; i++) {
        struct cell cells[WORKER_COLUMNS];
        worker_cells(view, &view->rows.rows[i], cells);
        if (i > 0)
            buf_append_char(&workers, ',');
        output_cells_json(&workers, worker_columns, WORKER_COLUMNS, cells);
    }
    buf_append_char(&workers, ']');
    struct cell cells[] = {cell_time(view->counts.now_ms),
                           cell_int(view->clock_ahead_ms),
                           cell_int(view->instances[0]),
                           cell_int(view->instances[1]),
                           cell_int(view->instances[2]),
                           cell_text(buf_str(&kinds)),
                           cell_text(buf_str(&workers)),
                           cell_int(view->queue.ready_now),
                           cell_int(view->queue.currently_leased),
                           cell_int(view->queue.dead),
                           cell_text(buf_str(&view->queue.priorities)),
                           cell_bool(view->queue.priorities_all),
                           cell_int(view->queue.total_runs),
                           cell_int(view->queue.successful_runs)};
    pawl_status status = buf_status(&kinds, "status", err);
    if (status == PAWL_OK)
        status = buf_status(&workers, "status", err);
    if (status == PAWL_OK)
        status = output_record(&cli->output, outer, sizeof outer / sizeof *outer, cells, err);
    buf_free(&kinds);
    buf_free(&workers);
    return status;
}

static pawl_status print_table(struct cli *cli, const struct view *view, pawl_error *err) {
    output_say(&cli->output, "instances: %" PRId64 " active, %" PRId64 " silent, %" PRId64 " evicted\n",
               view->instances[0], view->instances[1], view->instances[2]);
    if (view->clock_ahead_ms >= CLOCK_AHEAD_MS_SAID || view->clock_ahead_ms <= -CLOCK_AHEAD_MS_SAID)
        output_say(&cli->output, "clock: this machine is %" PRId64 " ms %s the database\n",
                   view->clock_ahead_ms > 0 ? view->clock_ahead_ms : -view->clock_ahead_ms,
                   view->clock_ahead_ms > 0 ? "ahead of" : "behind");
    if (view->queue.total_pending > 0 || view->queue.total_runs > 0 || view->queue.dead > 0)
        output_say(&cli->output,
                   "jobs: %" PRId64 " ready, %" PRId64 " running, %" PRId64 " later or waiting, %" PRId64
                   " dead; by priority %s%s; last hour %" PRId64 " of %" PRId64 " executions succeeded\n",
                   view->queue.ready_now, view->queue.currently_leased,
                   view->queue.total_pending - view->queue.ready_now - view->queue.currently_leased,
                   view->queue.dead, view->queue.priorities.ptr,
                   view->queue.priorities_all ? "" : " (not all are counted)", view->queue.successful_runs,
                   view->queue.total_runs);
    struct kind_columns shown;
    fill_columns(view->rates, &shown);
    output_list_begin(&cli->output, shown.columns, shown.count);
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        struct cell cells[ROW_COLUMNS_MAX];
        kind_cells((enum store_kind)kind, view, &shown, cells);
        output_list_row(&cli->output, cells);
    }
    pawl_status status = output_list_end(&cli->output, "", err);
    if (status != PAWL_OK || view->rows.count == 0)
        return status;
    output_say(&cli->output, "%s", "");
    output_list_begin(&cli->output, worker_columns, WORKER_COLUMNS);
    for (size_t i = 0; i < view->rows.count; i++) {
        struct cell cells[WORKER_COLUMNS];
        worker_cells(view, &view->rows.rows[i], cells);
        output_list_row(&cli->output, cells);
    }
    return output_list_end(&cli->output, "", err);
}

static pawl_status run(struct cli *cli, pawl_error *err) {
    struct view view = {.rates = cli_value(cli, "rates_ms").present};
    const struct store_view_ops *ops = &cli->store->ops->view;
    pawl_status status = PAWL_OK;
    if (view.rates) {
        int64_t span_ms = cli_value(cli, "rates_ms").number;
        status = ops->counts(cli->store, &view.before, err);
        nanosleep(&(struct timespec){span_ms / 1000, span_ms % 1000 * 1000000}, NULL);
    }
    if (status == PAWL_OK)
        status = ops->counts(cli->store, &view.counts, err);
    if (status == PAWL_OK)
        status = clock_compare(cli, &view, err);
    if (status == PAWL_OK)
        status = ops->instances(cli->store, cli->arena, &view.rows, err);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < view.rows.count; i++)
        view.instances[instance_standing(&view.rows.rows[i], view.counts.now_ms)]++;
    status = queue_stats_read(cli->store, cli->arena, &view.queue, err);
    if (status == PAWL_OK)
        status = output_is_json(&cli->output) ? print_json(cli, &view, err) : print_table(cli, &view, err);
    queue_stats_free(&view.queue);
    return status;
}

static const struct field fields[] = {
    {DURATION_FIELD(IN_TERMINAL, "rates_ms", 1, 3600000, "Measure messages per second over this time.")}};

static const struct operation commands[] = {
    {OPERATION("status", "Show the backlog, its age, failures, dead letters, and the workers"),
     FIELDS(fields),
     .details = "ready: waiting for the owner of its lane. leased: in flight. aside: waiting for its next "
                "attempt, or for an earlier message that is. dead: failed for good until retried. With "
                "--rates the numbers "
                "are read twice, that far apart, and the rates are for that interval. clock_ahead_ms "
                "compares this machine's clock with the database's, which is the one that counts.",
     .example = "pawl status\n"
                "pawl status --rates 2s",
     .terminal = run},
};

const struct operation_table status_commands = OPERATION_TABLE(commands);
