/* pawl workers, cleanup, rebalance and queue: the fleet and its queue under the words that people know from
 * other systems. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "view/fleet.h"
#include "view/message.h"
#include "view/output/row.h"
#include "view/queue.h"
#include "view/work.h"

enum {
    MINUTE_MS = 60000,
    WORKERS_MINUTES_DEFAULT = 5,
    STALE_MINUTES_DEFAULT = 10,
    MAX_LEASES_DEFAULT = 5,
    EXECUTIONS_SHOWN = 20,
    EXECUTIONS_PAGE = 1000,
    LEASES_PAGE = 1000
};

static int64_t number_or(const struct cli *cli, const char *name, int64_t fallback) {
    struct value value = cli_value(cli, name);
    return value.present ? value.number : fallback;
}

/* ---- Workers */

#define ROW struct instance_row
static const struct column worker_columns[] = {
    {.key = "worker_id", UUID_OF(id)},
    {.key = "service", TEXT_OF(service), .cut = true, .drop = 2},
    {.key = "host", TEXT_OF(host), .cut = true, .drop = 3},
    {.key = "pid", INT_OF(pid), .drop = 4},
    {COLUMN(TEXT, "state")},
    {COLUMN(INT, "seconds_since_heartbeat")},
    {.key = "last_seen", TIME_OF(beat_ms), .drop = 1},
    {COLUMN(INT, "leases")},
    {.key = "in_flight", INT_OF(in_flight)},
    {.key = "jobs", INT_OF(jobs)},
    {.key = "started", TIME_OF(started_ms), .show = SHOW_WIDE},
};
#undef ROW

enum { WORKER_COLUMNS = sizeof worker_columns / sizeof *worker_columns };

/* A claim of messages is one lease; each job has its own. */
static int64_t leases_of(const struct instance_row *row) { return (int64_t)row->claims + row->jobs; }

static void worker_cells(const struct instance_row *row, int64_t now_ms,
                         struct cell cells[static WORKER_COLUMNS]) {
    const struct cell made[] = {cell_cstr(instance_state_name(row, now_ms)),
                                cell_int(row->beat_age_ms / 1000), cell_int(leases_of(row))};
    row_cells(worker_columns, WORKER_COLUMNS, row, made, cells);
}

struct lease_list {
    struct cli *cli;
    pawl_uuid id;
    struct buf *out;
    const struct column *columns;
};

static void write_lease_cells(struct lease_list *list, const struct cell *cells) {
    if (list->out->len > 1)
        buf_append_char(list->out, ',');
    output_cells_json(list->out, list->columns, 4, cells);
}

static pawl_status write_lease(void *self, const struct message_row *row, pawl_error *err) {
    (void)err;
    struct lease_list *list = self;
    char id[UUID_TEXT_BYTES];
    if (uuid_equal(row->claimed_by, list->id))
        write_lease_cells(list,
                          (struct cell[]){cell_cstr("message"), cell_cstr(uuid_format(row->item.id, id)),
                                          cell_text(row->item.type), cell_time(row->item.lease_until_ms)});
    return PAWL_OK;
}

static void write_job_lease(struct lease_list *list, const struct job_row *row) {
    char id[24];
    if (!uuid_equal(row->instance, list->id))
        return;
    snprintf(id, sizeof id, "%" PRId64, row->job.id);
    write_lease_cells(list, (struct cell[]){cell_cstr("job"), cell_cstr(id), cell_text(row->job.type),
                                            cell_time(row->job.lease_until_ms)});
}

/* What one worker holds, as JSON: messages and jobs with the end of their leases. */
static pawl_status write_leases(struct cli *cli, pawl_uuid id, struct buf *out, pawl_error *err) {
    static const struct column columns[] = {
        {COLUMN(TEXT, "kind")}, {COLUMN(TEXT, "id")}, {COLUMN(TEXT, "type")}, {COLUMN(TIME, "lease_until")}};
    struct lease_list list = {.cli = cli, .id = id, .out = out, .columns = columns};
    struct message_filter leased = {.state = STATE_LEASED, .lane = -1};
    struct job_filter running = {.state = JOB_RUNNING, .limit = LEASES_PAGE};
    buf_append_char(out, '[');
    pawl_status status = messages_visit(cli->store, leased, 0, write_lease, &list, err);
    do {
        struct job_rows jobs = {.count = 0};
        if (status == PAWL_OK)
            status = cli->store->ops->jobs->jobs(cli->store, &running, cli->arena, &jobs, err);
        for (size_t i = 0; status == PAWL_OK && i < jobs.count; i++)
            write_job_lease(&list, &jobs.rows[i]);
        running.after_id = jobs.next_id;
    } while (status == PAWL_OK && running.after_id > 0);
    buf_append_char(out, ']');
    return status == PAWL_OK ? buf_status(out, "workers", err) : status;
}

/* Its latest executions as JSON. */
static pawl_status write_executions(struct cli *cli, const struct instance_row *row, struct buf *out,
                                    pawl_error *err) {
    struct run_filter filter = {.since_ms = row->started_ms, .limit = EXECUTIONS_PAGE};
    int shown = 0;
    pawl_status status = PAWL_OK;
    buf_append_char(out, '[');
    do {
        struct task_run_list found = {.count = 0};
        status = cli->store->ops->jobs->runs(cli->store, &filter, cli->arena, &found, err);
        for (size_t i = 0; status == PAWL_OK && i < found.count && shown < EXECUTIONS_SHOWN; i++) {
            struct cell cells[EXECUTION_COLUMNS];
            if (!uuid_equal(found.runs[i].instance, row->id))
                continue;
            execution_cells(&found.runs[i], cells);
            if (shown++ > 0)
                buf_append_char(out, ',');
            output_cells_json(out, execution_columns, EXECUTION_COLUMNS, cells);
        }
        filter.before_id = found.next_id;
    } while (status == PAWL_OK && filter.before_id > 0 && shown < EXECUTIONS_SHOWN);
    buf_append_char(out, ']');
    return status == PAWL_OK ? buf_status(out, "workers", err) : status;
}

static pawl_status print_worker(struct cli *cli, const struct instance_row *row, pawl_error *err) {
    static const struct column more[] = {
        {COLUMN(INT, "tasks_processed")}, {COLUMN(INT, "tasks_succeeded")},
        {COLUMN(INT, "tasks_failed")},    {COLUMN(INT, "avg_duration_ms")},
        {COLUMN(JSON, "current_leases")}, {COLUMN(JSON, "recent_executions")}};
    enum { MORE = sizeof more / sizeof *more };
    struct column columns[WORKER_COLUMNS + MORE];
    struct cell cells[WORKER_COLUMNS + MORE];
    struct buf leases, executions;
    struct run_sums sums = {0};
    buf_init(&leases, 0);
    buf_init(&executions, 0);
    pawl_status status = write_leases(cli, row->id, &leases, err);
    if (status == PAWL_OK)
        status = cli->store->ops->jobs->run_sums(cli->store, row->started_ms, row->id, &sums, err);
    if (status == PAWL_OK && sums.runs > 0)
        status = write_executions(cli, row, &executions, err);
    else if (status == PAWL_OK)
        buf_append_cstr(&executions, "[]");
    worker_cells(row, cli->output.now_ms, cells);
    const struct cell values[MORE] = {cell_int(sums.runs),
                                      cell_int(sums.succeeded),
                                      cell_int(sums.runs - sums.succeeded),
                                      sums.runs > 0 ? cell_int(sums.duration_ms / sums.runs) : cell_none(),
                                      cell_text(buf_str(&leases)),
                                      cell_text(buf_str(&executions))};
    for (size_t i = 0; i < WORKER_COLUMNS + MORE; i++) {
        columns[i] = i < WORKER_COLUMNS ? worker_columns[i] : more[i - WORKER_COLUMNS];
        if (i >= WORKER_COLUMNS)
            cells[i] = values[i - WORKER_COLUMNS];
    }
    if (status == PAWL_OK)
        status = output_record(&cli->output, columns, WORKER_COLUMNS + MORE, cells, err);
    buf_free(&leases);
    buf_free(&executions);
    return status;
}

static pawl_status workers(struct cli *cli, pawl_error *err) {
    pawl_str wanted = options_text(&cli->arguments.options, OPTION_WORKER_ID);
    int64_t since_ms = number_or(cli, "minutes", WORKERS_MINUTES_DEFAULT) * MINUTE_MS;
    struct instance_rows rows;
    pawl_uuid id;
    if (wanted.len > 0 && !uuid_parse(wanted, &id))
        return error_set(err, PAWL_INVALID, "workers", "--worker-id: \"%.*s\" is not a UUID",
                         STR_ARG(wanted));
    pawl_status status = cli->store->ops->view.instances(cli->store, cli->arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; wanted.len > 0 && i < rows.count; i++) {
        if (uuid_equal(rows.rows[i].id, id))
            return print_worker(cli, &rows.rows[i], err);
    }
    if (wanted.len > 0)
        return error_set(err, PAWL_NOT_FOUND, "workers", "there is no worker %.*s", STR_ARG(wanted));
    output_list_begin(&cli->output, worker_columns, WORKER_COLUMNS);
    for (size_t i = 0; i < rows.count; i++) {
        struct cell cells[WORKER_COLUMNS];
        if (rows.rows[i].beat_age_ms > since_ms)
            continue;
        worker_cells(&rows.rows[i], cli->output.now_ms, cells);
        output_list_row(&cli->output, cells);
    }
    return output_list_end(&cli->output, "no workers", err);
}

/* ---- Cleanup */

static pawl_status cleanup(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {{COLUMN(INT, "workers_evicted")},
                                            {COLUMN(INT, "leases_released")},
                                            {COLUMN(INT, "leases_expired")},
                                            {COLUMN(BOOL, "dry_run")}};
    int64_t stale_ms = number_or(cli, "stale_minutes", STALE_MINUTES_DEFAULT) * MINUTE_MS;
    bool dry = cli_value(cli, "dry_run").present;
    int64_t evicted = 0, leases = 0;
    struct maintain_in in = {.rows_max = PAWL_BATCH_MAX};
    struct maintain_result done = {0};
    struct jobs_maintain_result jobs = {0};
    struct instance_rows rows;
    pawl_status status = cli->store->ops->view.instances(cli->store, cli->arena, &rows, err);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        const struct instance_row *row = &rows.rows[i];
        bool silent = row->state == INSTANCE_ACTIVE && row->lease_until_ms <= cli->output.now_ms;
        if (!silent || row->beat_age_ms < stale_ms)
            continue;
        if (!dry)
            status = cli->store->ops->core.instance_evict(cli->store, row->id, err);
        evicted++;
        leases += leases_of(row);
    }
    if (status == PAWL_OK && !dry)
        status = cli->store->ops->core.maintain(cli->store, &in, &done, err);
    if (status == PAWL_OK && !dry)
        status = cli->store->ops->jobs->maintain(cli->store, PAWL_BATCH_MAX, &jobs, err);
    struct cell cells[] = {cell_int(evicted), cell_int(leases),
                           cell_int(done.claims_expired + jobs.leases_expired), cell_bool(dry)};
    return status == PAWL_OK ? output_record(&cli->output, columns, 4, cells, err) : status;
}

/* ---- Rebalance */

static pawl_status rebalance(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {{COLUMN(UUID, "worker_id")},
                                            {COLUMN(INT, "leases")},
                                            {COLUMN(INT, "lanes_given")},
                                            {COLUMN(INT, "lanes_taken")}};
    int64_t most = number_or(cli, "max_leases", MAX_LEASES_DEFAULT);
    struct instance_rows rows;
    pawl_status status = cli->store->ops->view.instances(cli->store, cli->arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, columns, 4);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        const struct instance_row *row = &rows.rows[i];
        struct beat_result beat = {0}, sum = {0};
        bool live = row->state == INSTANCE_ACTIVE && row->lease_until_ms > cli->output.now_ms;
        if (!live || row->claims <= most)
            continue;
        for (int kind = KIND_OUTBOX; status == PAWL_OK && kind <= KIND_COUNT; kind++) {
            if ((row->kinds & KIND_BIT(kind)) == 0 || cli_value(cli, "dry_run").present)
                continue;
            status =
                cli->store->ops->core.lanes_rebalance(cli->store, row->id, (enum store_kind)kind, &beat, err);
            sum.lanes_given += beat.lanes_given;
            sum.lanes_taken += beat.lanes_taken;
        }
        /* It went away while we looked: its peers see to its lanes. */
        status = status == PAWL_STALE ? PAWL_OK : status;
        struct cell cells[] = {cell_uuid(row->id), cell_int(row->claims), cell_int(sum.lanes_given),
                               cell_int(sum.lanes_taken)};
        output_list_row(&cli->output, cells);
    }
    pawl_status ended = output_list_end(&cli->output, "no worker holds more leases than that", err);
    return status == PAWL_OK ? ended : status;
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

static pawl_status queue(struct cli *cli, pawl_error *err) {
    enum { COUNT = sizeof queue_columns / sizeof *queue_columns };
    struct queue_stats stats;
    struct cell cells[COUNT];
    pawl_status status = queue_stats_read(cli->store, cli->arena, &stats, err);
    const struct cell made[] = {cell_int(stats.oldest_age_ms / 1000),
                                stats.total_runs > 0 ? cell_int(stats.duration_ms / stats.total_runs)
                                                     : cell_none(),
                                cell_text(buf_str(&stats.priorities))};
    row_cells(queue_columns, COUNT, &stats, made, cells);
    if (status == PAWL_OK)
        status = output_record(&cli->output, queue_columns, COUNT, cells, err);
    queue_stats_free(&stats);
    return status;
}

static const struct field worker_fields[] = {
    {INT_FIELD(IN_TERMINAL, "minutes", 1, 525600,
               "Only workers whose last heartbeat is at most this old; 5 if not given.")}};
static const struct field cleanup_fields[] = {
    {INT_FIELD(IN_TERMINAL, "stale_minutes", 0, 525600,
               "Only workers that have been silent for this long; 10 if not given.")},
    FLAG_DRY_RUN};
static const struct field rebalance_fields[] = {
    {INT_FIELD(IN_TERMINAL, "max_leases", 0, 1000000,
               "Only workers that hold more leases than this; 5 if not given.")},
    FLAG_DRY_RUN};

static const struct operation commands[] = {
    {OPERATION("workers", "List the workers that were active recently, or show one of them"),
     FIELDS(worker_fields), .terminal = workers, .options = OPTION(WORKER_ID),
     .details =
         "Shows workers whose last heartbeat is at most --minutes old (5). With --worker-id: what it holds "
         "and until when, and its audited executions, with their results and the latest of them.",
     .example = "pawl workers --minutes 60\n"
                "pawl workers | jq -r '.[] | select(.seconds_since_heartbeat < 60) | .worker_id'"},
    {OPERATION("queue", "Show job statistics: what is waiting, by priority, and the last hour"),
     .terminal = queue,
     .details = "priority_distribution counts what waits by priority, up to 10,000 jobs that are ready and "
                "as many that are not due or wait for a signal; where there may be more, priority_complete "
                "is false. Runs are the audited executions of the last hour, all of them.",
     .example = "pawl queue | jq '.priority_distribution'"},
    {OPERATION("cleanup", "Evict workers that have been silent for long, and end expired leases"),
     FIELDS(cleanup_fields), .changes = CHANGES_ACTION, .terminal = cleanup,
     .details =
         "Silent means that its lease has expired: a live worker is never touched, whatever --stale-minutes "
         "(10) says. Workers do the same by themselves; this is for when none is running.",
     .example = "pawl cleanup --stale-minutes 10\npawl cleanup --dry-run"},
    {OPERATION("rebalance", "Ask workers that hold many leases to give up the lanes above their fair share"),
     FIELDS(rebalance_fields), .changes = CHANGES_ACTION, .terminal = rebalance,
     .details = "Applies to workers with more than --max-leases (5) claims of messages; jobs have no lanes. "
                "Nothing is taken away: a lane without work in flight is free immediately, any other moves "
                "when its last claim ends. Workers do the same with every heartbeat.",
     .example = "pawl rebalance --max-leases 3"},
};

const struct operation_table fleet_commands = OPERATION_TABLE(commands);
