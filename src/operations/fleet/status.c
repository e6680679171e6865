/* The status of everything: what waits, how old it is, how fast it moves, and who works on it. */
#include <assert.h>
#include <inttypes.h>
#include <time.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "operations/tables.h"
#include "view/counts.h"
#include "view/fleet.h"
#include "view/names.h"
#include "view/output/row.h"
#include "view/status/overview.h"
#include "view/status/queue.h"

enum { RATES = 3, CLOCK_AHEAD_MS_SAID = 1000 };

/* What the answer is made of. */
struct look {
    const struct overview *now, *before; /* before is NULL unless rates were asked for */
    struct instance_rows instances;
    struct queue_stats queue;
    int64_t clock_ahead_ms; /* this machine's clock against the database's; negative: behind */
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

static void worker_cells(const struct look *look, const struct instance_row *row,
                         struct cell cells[static COLUMN_COUNT(worker_columns)]) {
    int lanes = 0;
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++)
        lanes += row->lanes[kind];
    const struct cell made[] = {cell_cstr(instance_state_name(row, look->now->counts.now_ms)),
                                cell_int(lanes)};
    row_cells(worker_columns, COLUMN_COUNT(worker_columns), row, made, cells);
}

/* ---- For programs */

static const struct column status_columns[] = {{COLUMN(TIME, "now")},
                                               {COLUMN(INT, "clock_ahead_ms")},
                                               {COLUMN(INT, "instances_active")},
                                               {COLUMN(INT, "instances_silent")},
                                               {COLUMN(INT, "instances_evicted")},
                                               {COLUMN(INT, "in_flight")},
                                               {COLUMN(JSON, "kinds")},
                                               {COLUMN(JSON, "queues")},
                                               {COLUMN(JSON, "latency")},
                                               {COLUMN(JSON, "workers")},
                                               {COLUMN(INT, "jobs_ready")},
                                               {COLUMN(INT, "jobs_running")},
                                               {COLUMN(INT, "jobs_dead")},
                                               {COLUMN(JSON, "priority_distribution")},
                                               {COLUMN(BOOL, "priority_complete")},
                                               {COLUMN(INT, "total_runs")},
                                               {COLUMN(INT, "successful_runs")}};

static void write_workers(struct buf *buf, const struct look *look) {
    for (size_t i = 0; i < look->instances.count; i++) {
        struct cell cells[COLUMN_COUNT(worker_columns)];
        worker_cells(look, &look->instances.rows[i], cells);
        buf_append_char(buf, i == 0 ? '[' : ',');
        output_cells_json(buf, worker_columns, COLUMN_COUNT(worker_columns), cells);
    }
    buf_append_cstr(buf, look->instances.count == 0 ? "[]" : "]");
}

static pawl_status answer_program(struct request *request, const struct look *look, pawl_error *err) {
    enum { KINDS, QUEUES, LATENCY, WORKERS, PARTS };
    struct buf parts[PARTS];
    struct json_writer json[PARTS];
    const struct overview *now = look->now;
    const struct queue_stats *queue = &look->queue;
    for (size_t i = 0; i < PARTS; i++) {
        buf_init(&parts[i], 0);
        json_writer_init(&json[i], &parts[i]);
    }
    overview_kinds(&json[KINDS], now, look->before);
    overview_queues(&json[QUEUES], now, look->before);
    latency_write(&json[LATENCY], &now->latency, look->before != NULL ? &look->before->latency : NULL);
    write_workers(&parts[WORKERS], look);
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < PARTS; i++)
        status = buf_status(&parts[i], "status", err);
    if (status == PAWL_OK)
        status = REQUEST_RECORD(
            request, status_columns, err, cell_time(now->counts.now_ms), cell_int(look->clock_ahead_ms),
            cell_int(now->instances[0]), cell_int(now->instances[1]), cell_int(now->instances[2]),
            cell_int(now->in_flight), cell_text(buf_str(&parts[KINDS])), cell_text(buf_str(&parts[QUEUES])),
            cell_text(buf_str(&parts[LATENCY])), cell_text(buf_str(&parts[WORKERS])),
            cell_int(queue->ready_now), cell_int(queue->currently_leased), cell_int(queue->dead),
            cell_text(buf_str(&queue->priorities)), cell_bool(queue->priorities_all),
            cell_int(queue->total_runs), cell_int(queue->successful_runs));
    for (size_t i = 0; i < PARTS; i++)
        buf_free(&parts[i]);
    return status;
}

/* ---- For people */

/* Per second, rounded; absent when not asked for. */
static struct cell rate_cell(const struct look *look, int64_t now, int64_t before) {
    int64_t span_ms = look->before != NULL ? look->now->counts.now_ms - look->before->counts.now_ms : 0;
    return span_ms > 0 ? cell_int(((now - before) * 1000 + span_ms / 2) / span_ms) : cell_none();
}

/* Rates are shown when asked for, and then before anything that can be left out. */
static pawl_status list_kinds(struct request *request, const struct look *look, pawl_error *err) {
    static const char *const rate_keys[RATES] = {"put_per_s", "done_per_s", "failed_per_s"};
    struct column columns[ROW_COLUMNS_MAX] = {{COLUMN(TEXT, "kind")}};
    size_t count = 1;
    assert(1 + message_counts.count + RATES <= ROW_COLUMNS_MAX);
    for (size_t i = 0; i < message_counts.count; i++)
        columns[count++] = message_counts.rows[i].column;
    for (size_t i = 0; i < RATES; i++)
        columns[count++] = (struct column){COLUMN(INT, rate_keys[i]),
                                           .show = look->before != NULL ? SHOW_ALWAYS : SHOW_WIDE};
    request_list(request, columns, count);
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        const struct kind_counts *counts = &look->now->counts.kind[kind];
        const struct kind_counts *old = look->before != NULL ? &look->before->counts.kind[kind] : counts;
        struct cell cells[ROW_COLUMNS_MAX];
        const struct cell made[] = {
            cell_cstr(kind_name((enum store_kind)kind)), rate_cell(look, counts->put, old->put),
            rate_cell(look, counts->done, old->done), rate_cell(look, counts->failed, old->failed)};
        row_cells(columns, count, counts, made, cells);
        request_row(request, cells);
    }
    return request_list_end(request, NULL, err);
}

static void say_jobs(struct request *request, const struct queue_stats *queue) {
    if (queue->total_pending == 0 && queue->total_runs == 0 && queue->dead == 0)
        return;
    request_say(request,
                arena_printf(request->arena,
                             "jobs: %" PRId64 " ready, %" PRId64 " running, %" PRId64
                             " later or waiting, %" PRId64 " dead; by priority %s%s; last hour %" PRId64
                             " of %" PRId64 " executions succeeded\n",
                             queue->ready_now, queue->currently_leased,
                             queue->total_pending - queue->ready_now - queue->currently_leased, queue->dead,
                             queue->priorities.ptr, queue->priorities_all ? "" : " (not all are counted)",
                             queue->successful_runs, queue->total_runs));
}

static pawl_status answer_person(struct request *request, const struct look *look, pawl_error *err) {
    const int64_t *instances = look->now->instances, ahead_ms = look->clock_ahead_ms;
    request_say(request,
                arena_printf(request->arena,
                             "instances: %" PRId64 " active, %" PRId64 " silent, %" PRId64 " evicted\n",
                             instances[0], instances[1], instances[2]));
    if (ahead_ms >= CLOCK_AHEAD_MS_SAID || ahead_ms <= -CLOCK_AHEAD_MS_SAID)
        request_say(request,
                    arena_printf(request->arena, "clock: this machine is %" PRId64 " ms %s the database\n",
                                 ahead_ms > 0 ? ahead_ms : -ahead_ms, ahead_ms > 0 ? "ahead of" : "behind"));
    say_jobs(request, &look->queue);
    pawl_status status = list_kinds(request, look, err);
    if (status != PAWL_OK || look->instances.count == 0)
        return status;
    request_say(request, "");
    request_list(request, worker_columns, COLUMN_COUNT(worker_columns));
    for (size_t i = 0; i < look->instances.count; i++) {
        struct cell cells[COLUMN_COUNT(worker_columns)];
        worker_cells(look, &look->instances.rows[i], cells);
        request_row(request, cells);
    }
    return request_list_end(request, NULL, err);
}

/* The half of the question's way counts as ours: a slow network is not a wrong clock. */
static pawl_status compare_clocks(struct store *store, int64_t *ahead_ms, pawl_error *err) {
    int64_t database_ms = 0, before_ms = clock_wall_ms();
    TRY(store->ops->core.clock_read(store, &database_ms, err));
    *ahead_ms = before_ms + (clock_wall_ms() - before_ms) / 2 - database_ms;
    return PAWL_OK;
}

static pawl_status show_status(struct request *request, pawl_error *err) {
    int64_t span_ms = request_number(request, "rates_ms", 0);
    struct overview *read = arena_array(request->arena, 2, sizeof *read);
    struct look look = {.now = read, .before = span_ms > 0 ? read + 1 : NULL};
    struct store *store = request->store;
    pawl_status status = read != NULL ? PAWL_OK : error_set(err, PAWL_NO_MEMORY, "status", "out of memory");
    if (status == PAWL_OK && span_ms > 0) {
        status = overview_read(store, request->arena, read + 1, &look.instances, err);
        nanosleep(&(struct timespec){span_ms / 1000, span_ms % 1000 * 1000000}, NULL);
    }
    if (status == PAWL_OK)
        status = overview_read(store, request->arena, read, &look.instances, err);
    if (status == PAWL_OK)
        status = compare_clocks(store, &look.clock_ahead_ms, err);
    if (status != PAWL_OK)
        return status;
    status = queue_stats_read(store, request->arena, &look.queue, err);
    if (status == PAWL_OK)
        status = request_for_program(request) ? answer_program(request, &look, err)
                                              : answer_person(request, &look, err);
    queue_stats_free(&look.queue);
    return status;
}

static const struct field fields[] = {
    {DURATION_FIELD(IN_TERMINAL, "rates_ms", 1, 3600000, "Measure messages per second over this time.")}};

static const struct operation operations[] = {
    {OPERATION("status", "Show the backlog, its age, failures, dead letters, and the workers"),
     READS("/v1/status"), FIELDS(fields), RECORD(status_columns), .run = show_status,
     .details = "ready: waiting for the owner of its lane. leased: in flight. aside: waiting for its next "
                "attempt, or for an earlier message that is. dead: failed for good until retried. With "
                "--rates the numbers are read twice, that far apart, and rates and latencies are those of "
                "that interval; otherwise latencies are those of everything counted so far. clock_ahead_ms "
                "compares the clock of the machine that answers with the database's, which is the one that "
                "counts.",
     .example = "pawl status\npawl status --rates 2s"},
};

const struct operation_table status_operations = OPERATION_TABLE(operations);
