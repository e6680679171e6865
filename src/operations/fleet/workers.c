/* Workers, cleanup, rebalance and queue: the fleet and its queue under the words that people know from other
 * systems. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "operations/tables.h"
#include "view/fleet.h"
#include "view/message.h"
#include "view/output/row.h"
#include "view/status/queue.h"
#include "view/work.h"

enum {
    MINUTE_MS = 60000,
    WORKERS_MINUTES_DEFAULT = 5,
    STALE_MINUTES_DEFAULT = 10,
    MAX_LEASES_DEFAULT = 5,
    EXECUTIONS_SHOWN = 20,
    EXECUTIONS_PAGE = 1000,
    EXECUTIONS_READ_MAX = 100000, /* of all workers, in search of its own */
    LEASES_PAGE = 1000
};

/* ---- Workers */

#define ROW struct instance_row
#define WORKER_COLUMN_ROWS                                                                                   \
    {.key = "worker_id", UUID_OF(id)}, {.key = "service", TEXT_OF(service), .cut = true, .drop = 2},         \
        {.key = "host", TEXT_OF(host), .cut = true, .drop = 3}, {.key = "pid", INT_OF(pid), .drop = 4},      \
        {COLUMN(TEXT, "state")}, {COLUMN(INT, "seconds_since_heartbeat")},                                   \
        {.key = "last_seen", TIME_OF(beat_ms), .drop = 1}, {COLUMN(INT, "leases")},                          \
        {.key = "in_flight", INT_OF(in_flight)}, {.key = "jobs", INT_OF(jobs)}, {                            \
        .key = "started", TIME_OF(started_ms), .show = SHOW_WIDE                                             \
    }

static const struct column worker_columns[] = {WORKER_COLUMN_ROWS};
static const struct column detail_columns[] = {WORKER_COLUMN_ROWS,
                                               {COLUMN(INT, "tasks_processed")},
                                               {COLUMN(INT, "tasks_succeeded")},
                                               {COLUMN(INT, "tasks_failed")},
                                               {COLUMN(INT, "avg_duration_ms")},
                                               {COLUMN(JSON, "current_leases")},
                                               {COLUMN(JSON, "recent_executions")}};
#undef ROW

enum { WORKER_COLUMNS = COLUMN_COUNT(worker_columns), DETAIL_COLUMNS = COLUMN_COUNT(detail_columns) };

/* A claim of messages is one lease; each job has its own. */
static int64_t leases_of(const struct instance_row *row) { return (int64_t)row->claims + row->jobs; }

static void worker_cells(const struct instance_row *row, int64_t now_ms,
                         struct cell cells[static WORKER_COLUMNS]) {
    const struct cell made[] = {cell_cstr(instance_state_name(row, now_ms)),
                                cell_int(row->beat_age_ms / 1000), cell_int(leases_of(row))};
    row_cells(worker_columns, WORKER_COLUMNS, row, made, cells);
}

/* What a worker holds, as JSON. */
struct lease_list {
    pawl_uuid id;
    struct buf *out;
};

static void write_lease(struct lease_list *list, const char *kind, struct cell id, pawl_str type,
                        int64_t until_ms) {
    static const struct column columns[] = {
        {COLUMN(TEXT, "kind")}, {COLUMN(TEXT, "id")}, {COLUMN(TEXT, "type")}, {COLUMN(TIME, "lease_until")}};
    if (list->out->len > 1)
        buf_append_char(list->out, ',');
    output_cells_json(list->out, columns, 4,
                      (struct cell[]){cell_cstr(kind), id, cell_text(type), cell_time(until_ms)});
}

static pawl_status write_message(void *self, const struct message_row *row, pawl_error *err) {
    (void)err;
    struct lease_list *list = self;
    char id[UUID_TEXT_BYTES];
    if (uuid_equal(row->claimed_by, list->id))
        write_lease(list, "message", cell_cstr(uuid_format(row->item.id, id)), row->item.type,
                    row->item.lease_until_ms);
    return PAWL_OK;
}

static void write_job(struct lease_list *list, const struct job_row *row) {
    char id[24];
    if (!uuid_equal(row->instance, list->id))
        return;
    snprintf(id, sizeof id, "%" PRId64, row->job.id);
    write_lease(list, "job", cell_cstr(id), row->job.type, row->job.lease_until_ms);
}

/* Messages and jobs with the end of their leases. */
static pawl_status write_leases(struct request *request, pawl_uuid id, struct buf *out, pawl_error *err) {
    struct lease_list list = {.id = id, .out = out};
    struct store *store = request->store;
    struct message_filter leased = {.state = STATE_LEASED, .lane = -1};
    struct job_filter running = {.state = JOB_RUNNING, .limit = LEASES_PAGE};
    struct arena *page = arena_create(0);
    buf_append_char(out, '[');
    pawl_status status = page != NULL ? messages_visit(store, leased, 0, write_message, &list, err)
                                      : error_no_memory(err, "workers");
    do {
        struct job_rows jobs = {.count = 0};
        if (status == PAWL_OK) {
            arena_reset(page);
            status = store->ops->jobs->jobs(store, &running, page, &jobs, err);
        }
        for (size_t i = 0; status == PAWL_OK && i < jobs.count; i++)
            write_job(&list, &jobs.rows[i]);
        running.after_id = jobs.next_id;
    } while (status == PAWL_OK && running.after_id > 0);
    arena_free(page);
    buf_append_char(out, ']');
    return status == PAWL_OK ? buf_status(out, "workers", err) : status;
}

/* Its latest executions as JSON. */
static pawl_status write_executions(struct request *request, const struct instance_row *row, struct buf *out,
                                    pawl_error *err) {
    struct run_filter filter = {.since_ms = row->started_ms, .limit = EXECUTIONS_PAGE};
    int shown = 0, read = 0;
    struct arena *page = arena_create(0);
    pawl_status status = page != NULL ? PAWL_OK : error_no_memory(err, "workers");
    buf_append_char(out, '[');
    while (status == PAWL_OK && shown < EXECUTIONS_SHOWN && read < EXECUTIONS_READ_MAX) {
        struct task_run_list found = {.count = 0};
        arena_reset(page);
        status = request->store->ops->jobs->runs(request->store, &filter, page, &found, err);
        for (size_t i = 0; status == PAWL_OK && i < found.count && shown < EXECUTIONS_SHOWN; i++) {
            struct cell cells[EXECUTION_COLUMNS];
            if (!uuid_equal(found.runs[i].instance, row->id))
                continue;
            execution_cells(&found.runs[i], cells);
            request_hide(request, execution_columns, EXECUTION_COLUMNS, cells);
            if (shown++ > 0)
                buf_append_char(out, ',');
            output_cells_json(out, execution_columns, EXECUTION_COLUMNS, cells);
        }
        filter.before_id = found.next_id;
        read += EXECUTIONS_PAGE;
        if (filter.before_id <= 0)
            break;
    }
    arena_free(page);
    buf_append_char(out, ']');
    return status == PAWL_OK ? buf_status(out, "workers", err) : status;
}

static pawl_status answer_worker(struct request *request, const struct instance_row *row, int64_t now_ms,
                                 pawl_error *err) {
    struct cell cells[DETAIL_COLUMNS];
    struct run_sums sums = {0};
    AUTO_BUF(leases, 0);
    AUTO_BUF(executions, 0);
    TRY(write_leases(request, row->id, &leases, err));
    TRY(request->store->ops->jobs->run_sums(request->store, row->started_ms, row->id, &sums, err));
    if (sums.runs > 0)
        TRY(write_executions(request, row, &executions, err));
    else
        buf_append_cstr(&executions, "[]");
    const struct cell made[] = {cell_cstr(instance_state_name(row, now_ms)),
                                cell_int(row->beat_age_ms / 1000),
                                cell_int(leases_of(row)),
                                cell_int(sums.runs),
                                cell_int(sums.succeeded),
                                cell_int(sums.runs - sums.succeeded),
                                sums.runs > 0 ? cell_int(sums.duration_ms / sums.runs) : cell_none(),
                                cell_text(buf_str(&leases)),
                                cell_text(buf_str(&executions))};
    row_cells(detail_columns, DETAIL_COLUMNS, row, made, cells);
    return request_record(request, detail_columns, DETAIL_COLUMNS, cells, err);
}

/* All instances, and the time. */
static pawl_status read_fleet(struct request *request, struct instance_rows *rows, int64_t *now_ms,
                              pawl_error *err) {
    TRY(request->store->ops->core.clock_read(request->store, now_ms, err));
    return request->store->ops->view.instances(request->store, request->arena, rows, err);
}

static pawl_status worker_show(struct request *request, pawl_error *err) {
    struct value given = request_value(request, "id"),
                 id = given.present ? given : request_value(request, "worker_id");
    struct instance_rows rows = {.count = 0};
    int64_t now_ms = 0;
    TRY(read_fleet(request, &rows, &now_ms, err));
    for (size_t i = 0; i < rows.count; i++)
        if (uuid_equal(rows.rows[i].id, id.uuid))
            return answer_worker(request, &rows.rows[i], now_ms, err);
    return request_not_found("workers", "worker", id.text, err);
}

static pawl_status worker_list(struct request *request, pawl_error *err) {
    int64_t since_ms = request_number(request, "minutes", WORKERS_MINUTES_DEFAULT) * MINUTE_MS, now_ms = 0;
    struct instance_rows rows;
    if (request_value(request, "worker_id").present)
        return worker_show(request, err);
    TRY(read_fleet(request, &rows, &now_ms, err));
    request_list(request, worker_columns, WORKER_COLUMNS);
    for (size_t i = 0; i < rows.count; i++) {
        struct cell cells[WORKER_COLUMNS];
        if (rows.rows[i].beat_age_ms > since_ms)
            continue;
        worker_cells(&rows.rows[i], now_ms, cells);
        request_row(request, cells);
    }
    return request_list_end(request, NULL, err);
}

/* ---- Cleanup */

static const struct column cleanup_columns[] = {{COLUMN(INT, "workers_evicted")},
                                                {COLUMN(INT, "leases_released")},
                                                {COLUMN(INT, "leases_expired")},
                                                {COLUMN(BOOL, "dry_run")}};

static pawl_status cleanup(struct request *request, pawl_error *err) {
    int64_t stale_ms = request_number(request, "stale_minutes", STALE_MINUTES_DEFAULT) * MINUTE_MS;
    bool dry = request_dry(request);
    int64_t evicted = 0, leases = 0, now_ms = 0;
    struct store *store = request->store;
    struct maintain_in in = {.rows_max = PAWL_BATCH_MAX};
    struct maintain_result done = {0};
    struct jobs_maintain_result jobs = {0};
    struct instance_rows rows = {.count = 0};
    TRY(read_fleet(request, &rows, &now_ms, err));
    for (size_t i = 0; i < rows.count; i++) {
        const struct instance_row *row = &rows.rows[i];
        bool silent = row->state == INSTANCE_ACTIVE && row->lease_until_ms <= now_ms;
        if (!silent || row->beat_age_ms < stale_ms)
            continue;
        if (!dry)
            TRY(store->ops->core.instance_evict(store, row->id, err));
        evicted++;
        leases += leases_of(row);
    }
    if (!dry)
        TRY(store->ops->core.maintain(store, &in, &done, err));
    if (!dry)
        TRY(store->ops->jobs->maintain(store, PAWL_BATCH_MAX, &jobs, err));
    return REQUEST_RECORD(request, cleanup_columns, err, cell_int(evicted), cell_int(leases),
                          cell_int(done.claims_expired + jobs.leases_expired), cell_bool(dry));
}

/* ---- Rebalance */

static const struct column rebalance_columns[] = {{COLUMN(UUID, "worker_id")},
                                                  {COLUMN(INT, "leases")},
                                                  {COLUMN(INT, "lanes_given")},
                                                  {COLUMN(INT, "lanes_taken")}};

static pawl_status rebalance_one(struct request *request, const struct instance_row *row, pawl_error *err) {
    struct beat_result beat = {0}, sum = {0};
    pawl_status status = PAWL_OK;
    for (int kind = KIND_OUTBOX; status == PAWL_OK && kind <= KIND_COUNT; kind++) {
        if ((row->kinds & KIND_BIT(kind)) == 0 || request_dry(request))
            continue;
        status = request->store->ops->core.lanes_rebalance(request->store, row->id, (enum store_kind)kind,
                                                           &beat, err);
        sum.lanes_given += beat.lanes_given;
        sum.lanes_taken += beat.lanes_taken;
    }
    request_row(request, (struct cell[]){cell_uuid(row->id), cell_int(row->claims), cell_int(sum.lanes_given),
                                         cell_int(sum.lanes_taken)});
    /* It went away while we looked: its peers see to its lanes. */
    return status == PAWL_STALE ? PAWL_OK : status;
}

static pawl_status rebalance(struct request *request, pawl_error *err) {
    int64_t most = request_number(request, "max_leases", MAX_LEASES_DEFAULT), now_ms = 0;
    struct instance_rows rows;
    TRY(read_fleet(request, &rows, &now_ms, err));
    request_list(request, rebalance_columns, COLUMN_COUNT(rebalance_columns));
    for (size_t i = 0; i < rows.count; i++) {
        const struct instance_row *row = &rows.rows[i];
        if (row->state == INSTANCE_ACTIVE && row->lease_until_ms > now_ms && row->claims > most)
            TRY(rebalance_one(request, row, err));
    }
    return request_list_end(request, NULL, err);
}

/* ---- Queue */

#define ROW struct queue_stats
static const struct column queue_columns[] = {
    {.key = "total_pending", INT_OF(total_pending)},
    {.key = "ready_now", INT_OF(ready_now)},
    {.key = "currently_leased", INT_OF(currently_leased)},
    {.key = "expired_leases", INT_OF(expired_leases)},
    {.key = "dead", INT_OF(dead)},
    {COLUMN(INT, "oldest_age_seconds")},
    {.key = "total_runs", INT_OF(total_runs)},
    {.key = "successful_runs", INT_OF(successful_runs)},
    {COLUMN(INT, "avg_duration_ms")},
    {.key = "active_workers", INT_OF(active_workers)},
    {COLUMN(JSON, "priority_distribution")},
    {.key = "priority_complete", BOOL_OF(priorities_all)},
};
#undef ROW

static pawl_status queue(struct request *request, pawl_error *err) {
    struct queue_stats stats;
    struct cell cells[COLUMN_COUNT(queue_columns)];
    pawl_status status = queue_stats_read(request->store, request->arena, &stats, err);
    const struct cell made[] = {cell_int(stats.oldest_age_ms / 1000),
                                stats.total_runs > 0 ? cell_int(stats.duration_ms / stats.total_runs)
                                                     : cell_none(),
                                cell_text(buf_str(&stats.priorities))};
    row_cells(queue_columns, COLUMN_COUNT(queue_columns), &stats, made, cells);
    if (status == PAWL_OK)
        status = request_record(request, queue_columns, COLUMN_COUNT(queue_columns), cells, err);
    queue_stats_free(&stats);
    return status;
}

/* ---- The table */

static const struct field list_fields[] = {
    {INT_FIELD(IN_QUERY, "minutes", 1, 525600,
               "Only workers whose last heartbeat is at most this old; 5 if not given.")},
    {FIELD(FIELD_UUID, IN_TERMINAL, "worker_id", "Show this one, as pawl instance show does.")}};
static const struct field show_fields[] = {
    {FIELD(FIELD_UUID, IN_PATH, "id", "The id of the instance."), .required = true}};
static const struct field cleanup_fields[] = {
    {INT_FIELD(IN_BODY, "stale_minutes", 0, 525600,
               "Only workers that have been silent for this long; 10 if not given.")},
    FIELD_ROW_DRY_RUN(IN_BODY)};
static const struct field rebalance_fields[] = {
    {INT_FIELD(IN_BODY, "max_leases", 0, 1000000,
               "Only workers that hold more leases than this; 5 if not given.")},
    FIELD_ROW_DRY_RUN(IN_BODY)};

static const struct operation operations[] = {
    {OPERATION("workers", "List the workers that were active recently, or show one of them"),
     READS("/v1/workers"), FIELDS(list_fields), COLUMNS(worker_columns), .run = worker_list,
     .details = "Shows workers whose last heartbeat is at most --minutes old (5). With --worker-id it is "
                "pawl instance show.",
     .example = "pawl workers --minutes 60\n"
                "pawl workers | jq -r '.[] | select(.seconds_since_heartbeat < 60) | .worker_id'",
     .empty = "no workers"},
    {OPERATION("instance.show", "Show an instance: what it holds, and what it has executed"),
     READS("/v1/instances/{id}"), FIELDS(show_fields), RECORD(detail_columns), .run = worker_show,
     .details = "What it holds and until when, how its audited executions ended, and the latest of them."},
    {OPERATION("queue", "Show job statistics: what is waiting, by priority, and the last hour"),
     READS("/v1/queue"), RECORD(queue_columns), .run = queue,
     .details = "priority_distribution counts what waits by priority, up to 10,000 jobs that are ready and "
                "as many that are not due or wait for a signal; where there may be more, priority_complete "
                "is false. Runs are the audited executions of the last hour, all of them.",
     .example = "pawl queue | jq '.priority_distribution'"},
    {OPERATION("cleanup", "Evict workers that have been silent for long, and end expired leases"),
     POSTS("/v1/cleanup"), FIELDS(cleanup_fields), RECORD(cleanup_columns), .run = cleanup,
     .details =
         "Silent means that its lease has expired: a live worker is never touched, whatever --stale-minutes "
         "(10) says. Workers do the same by themselves; this is for when none is running.",
     .example = "pawl cleanup --stale-minutes 10\npawl cleanup --dry-run"},
    {OPERATION("rebalance", "Ask workers that hold many leases to give up the lanes above their fair share"),
     POSTS("/v1/rebalance"), FIELDS(rebalance_fields), COLUMNS(rebalance_columns), .run = rebalance,
     .details = "Applies to workers with more than --max-leases (5) claims of messages; jobs have no lanes. "
                "Nothing is taken away: a lane without work in flight is free immediately, any other moves "
                "when its last claim ends. Workers do the same with every heartbeat.",
     .example = "pawl rebalance --max-leases 3", .empty = "no worker holds more leases than that"},
};

const struct operation_table worker_operations = OPERATION_TABLE(operations);
