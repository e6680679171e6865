/* Recording executions on SQLite: rows, chains of hashes, the spine; and housekeeping of jobs. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "domain/authority/audit.h"
#include "store/sqlite/jobs/jobs.h"

static pawl_status note_event(struct jobs_call *call, const struct job *job, const struct job_end *end) {
    return statement_run(SQL(call->op, SQLITE_Q_SPINE_INSERT, job->id, end->outcome, job->attempts,
                             call->op->now_ms, id_or_null(end->instance), job->task, job->type, end->error,
                             end->output));
}

static pawl_status keep_ms_of(struct jobs_call *call, pawl_str name, int64_t *keep_ms) {
    struct task task = {0};
    bool found = false;
    pawl_status status = str_absent(name) ? PAWL_OK : jobs_task_find(call->op, name, &task, &found);
    *keep_ms = found && task.retention_ms > 0 ? task.retention_ms : PAWL_RUN_RETENTION_MS_DEFAULT;
    return status;
}

LOCAL_SHAPE(audit_run, struct audit_run, M(id), M(job_id), M(task), M(type), M(queue), M(attempt),
            M(instance), M(token), M(started_ms), M(finished_ms), M(outcome), M(output), M(error), M(steps),
            M(input_hash), M(output_hash));

static pawl_status write_run(struct jobs_call *call, const struct audit_run *row, const uint8_t *hash) {
    return statement_run(SQL(call->op, SQLITE_Q_RUN_INSERT, ROW_OF(audit_run_shape, row),
                             BLOB(hash, SHA256_BYTES), row->expires_ms, call->block,
                             (int64_t)(call->entries.len / AUDIT_ENTRY_BYTES)));
}

pawl_status jobs_record(struct jobs_call *call, const struct job *job, const struct job_end *end) {
    if ((job->flags & JOB_EVENTS) != 0)
        TRY(note_event(call, job, end));
    if ((job->flags & JOB_AUDIT) == 0)
        return PAWL_OK;
    call->changed = true;
    if (call->block == 0)
        call->block = ++call->last_run;
    struct audit_run row = {.id = ++call->last_run,
                            .job_id = job->id,
                            .task = job->task,
                            .type = job->type,
                            .queue = job->queue,
                            .attempt = job->attempts,
                            .instance = end->instance,
                            .token = job->token,
                            .started_ms = call->op->now_ms - end->duration_ms,
                            .finished_ms = call->op->now_ms,
                            .outcome = (int)end->outcome,
                            .input_hash = end->input_hash,
                            .output_hash = end->output_hash,
                            .output = end->output,
                            .error = end->error,
                            .steps = end->steps};
    uint8_t hash[SHA256_BYTES];
    int64_t keep_ms = 0;
    TRY(keep_ms_of(call, job->task, &keep_ms));
    row.expires_ms = row.finished_ms + keep_ms;
    TRY(audit_run_hash(&row, hash, call->op->err));
    TRY(write_run(call, &row, hash));
    audit_entry_append(&call->entries, hash, row.expires_ms);
    return PAWL_OK;
}

static pawl_status chain_head(struct jobs_call *call, int64_t *number,
                              uint8_t previous[static SHA256_BYTES]) {
    struct statement s = SQL(call->op, SQLITE_Q_CHAIN_FIND, BLOB(call->chain.b, sizeof call->chain.b));
    *number = 0;
    memset(previous, 0, SHA256_BYTES);
    if (statement_next(&s)) {
        *number = column_int(&s, 0);
        pawl_str hash = column_borrow(&s, 1);
        if (hash.len == SHA256_BYTES)
            memcpy(previous, hash.ptr, SHA256_BYTES);
    }
    return statement_end(&s);
}

pawl_status jobs_seal(struct jobs_call *call) {
    struct operation *op = call->op;
    uint8_t previous[SHA256_BYTES], hash[SHA256_BYTES];
    int64_t number = 0;
    if (call->block == 0)
        return PAWL_OK;
    TRY(buf_status(&call->entries, op->name, op->err));
    TRY(chain_head(call, &number, previous));
    TRY(audit_block_hash(
        previous,
        &(struct audit_block){call->chain, number + 1, call->block, op->now_ms, buf_str(&call->entries)},
        hash, op->err));
    TRY(statement_run(SQL(op, SQLITE_Q_BLOCK_INSERT, BLOB(call->chain.b, sizeof call->chain.b), number + 1,
                          call->block, op->now_ms, BLOB(previous, sizeof previous), BLOB(hash, sizeof hash),
                          BLOB(call->entries.ptr, call->entries.len))));
    TRY(statement_run(SQL(op, SQLITE_Q_CHAIN_PUT, BLOB(call->chain.b, sizeof call->chain.b), number + 1,
                          BLOB(hash, sizeof hash))));
    call->block = 0;
    buf_reset(&call->entries);
    return PAWL_OK;
}

struct audit_run audit_row_read(struct statement *s, struct arena *arena) {
    struct audit_run run = {.id = 0};
    row_read(s, 0, &audit_run_shape, arena, &run);
    return run;
}

static void run_read(struct statement *s, struct arena *arena, struct task_run *run) {
    row_read(s, 0, &task_run_shape, arena, run);
    char *hex = arena_alloc(arena, SHA256_TEXT_BYTES);
    pawl_str hash = column_borrow(s, (int)task_run_shape.count);
    if (hex != NULL && hash.len == SHA256_BYTES)
        sha256_text((const uint8_t *)hash.ptr, hex);
    run->hash = str_from(hex);
}

pawl_status sqlite_jobs_runs(struct store *store, const struct run_filter *filter, struct arena *arena,
                             struct task_run_list *out, pawl_error *err) {
    struct operation op =
        operation_read(store, "task_runs", check_limit("task_runs", filter->limit, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = PAWL_OK;
    struct task_run_list list = {NULL, 0, 0};
    size_t cap = 0;
    int left = run_filter_scan(filter);
    struct statement s = SQL(&op,
                             filter->job_id != 0         ? SQLITE_Q_RUN_LIST_JOB
                             : !str_absent(filter->task) ? SQLITE_Q_RUN_LIST_TASK
                                                         : SQLITE_Q_RUN_LIST,
                             filter->before_id != 0 ? filter->before_id : INT64_MAX, filter->outcome,
                             filter->since_ms);
    if (filter->job_id != 0)
        bind_int(&s, filter->job_id);
    if (!str_absent(filter->task) || filter->job_id != 0)
        bind_text(&s, filter->task);
    while (status == PAWL_OK && list.next_id == 0 && statement_next(&s)) {
        bool fits = column_int(&s, 17) != 0;
        if (fits)
            status = list_grow(&op, arena, (void **)&list.runs, &cap, list.count, sizeof *list.runs);
        if (fits && status == PAWL_OK)
            run_read(&s, arena, &list.runs[list.count++]);
        if (--left == 0 || list.count == (size_t)filter->limit)
            list.next_id = column_int(&s, 0);
    }
    pawl_status ended = statement_end(&s);
    return operation_give(&op, status == PAWL_OK ? ended : status, out, &list);
}

pawl_status sqlite_jobs_run_sums(struct store *store, int64_t since_ms, pawl_uuid instance,
                                 struct run_sums *out, pawl_error *err) {
    struct run_sums sums = {0};
    struct operation op = operation_read(store, "run_sums", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    struct statement s = SQL(&op, SQLITE_Q_TASK_RUN_SUMS, since_ms, id_or_null(instance));
    if (statement_next(&s))
        row_read(&s, 0, &task_run_sums_shape, op.scratch, &sums);
    return operation_give(&op, statement_end(&s), out, &sums);
}

static pawl_status anchor_last(struct operation *op, struct audit_head *head,
                               uint8_t hash[static SHA256_BYTES]) {
    struct statement s = statement_begin(op, SQLITE_Q_ANCHOR_LAST);
    *head = (struct audit_head){0};
    memset(hash, 0, SHA256_BYTES);
    if (statement_next(&s)) {
        head->number = column_int(&s, 0);
        head->made_ms = column_int(&s, 1);
        pawl_str stored = column_borrow(&s, 2);
        if (stored.len == SHA256_BYTES)
            memcpy(hash, stored.ptr, SHA256_BYTES);
        sha256_text(hash, head->hash);
    }
    return statement_end(&s);
}

static pawl_status heads_moved(struct operation *op, struct buf *heads) {
    struct statement s = statement_begin(op, SQLITE_Q_ANCHOR_MOVED);
    while (statement_next(&s)) {
        pawl_str hash = column_borrow(&s, 2);
        if (hash.len == SHA256_BYTES)
            audit_head_append(heads, column_uuid(&s, 0), column_int(&s, 1), (const uint8_t *)hash.ptr);
    }
    TRY(statement_end(&s));
    return buf_status(heads, op->name, op->err);
}

static pawl_status anchor_write(struct operation *op, pawl_str heads, struct audit_head *head,
                                const uint8_t previous[static SHA256_BYTES]) {
    uint8_t hash[SHA256_BYTES];
    struct audit_head next = {.number = head->number + 1, .made_ms = op->now_ms};
    TRY(audit_anchor_hash(previous, next.number, next.made_ms, heads, hash, op->err));
    TRY(statement_run(SQL(op, SQLITE_Q_ANCHOR_INSERT, next.number, next.made_ms, BLOB(previous, SHA256_BYTES),
                          BLOB(hash, SHA256_BYTES))));
    TRY(statement_run(SQL(op, SQLITE_Q_ANCHOR_HEADS_INSERT, next.number)));
    sha256_text(hash, next.hash);
    *head = next;
    return PAWL_OK;
}

pawl_status sqlite_jobs_audit_anchor(struct store *store, int64_t older_ms, struct audit_head *out,
                                     pawl_error *err) {
    struct audit_head head;
    struct buf heads;
    uint8_t hash[SHA256_BYTES];
    struct operation op = operation_write(store, "audit_anchor", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    buf_init(&heads, 0);
    pawl_status status = anchor_last(&op, &head, hash);
    if (status == PAWL_OK && (head.number == 0 || head.made_ms <= op.now_ms - older_ms))
        status = heads_moved(&op, &heads);
    if (status == PAWL_OK && heads.len > 0)
        status = anchor_write(&op, buf_str(&heads), &head, hash);
    buf_free(&heads);
    return operation_give(&op, status, out, &head);
}

pawl_status sqlite_jobs_audit_head(struct store *store, struct audit_head *out, pawl_error *err) {
    struct audit_head head;
    uint8_t hash[SHA256_BYTES];
    struct operation op = operation_read(store, "audit_head", PAWL_OK, err);
    return operation_give(&op, anchor_last(&op, &head, hash), out, &head);
}

pawl_status sqlite_jobs_spine_read(struct store *store, int limit, struct arena *arena,
                                   struct spine_events *out, pawl_error *err) {
    struct operation op = operation_read(store, "spine_read", check_limit("spine_read", limit, err), err);
    pawl_status status = operation_list(&op, SQL(&op, SQLITE_Q_SPINE_LIST, limit), &spine_event_shape, arena,
                                        ROWS_OUT(out, events));
    for (size_t i = 0; status == PAWL_OK && i < out->count; i++)
        out->events[i].event_type = str_from(run_outcome_event(out->events[i].outcome));
    return status;
}

pawl_status sqlite_jobs_spine_remove(struct store *store, const int64_t *ids, size_t count, int64_t *removed,
                                     pawl_error *err) {
    int64_t sum = 0;
    struct operation op =
        operation_write(store, "spine_remove", check_job_ids("spine_remove", ids, count, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        int64_t one = 0;
        status = statement_run_count(SQL(&op, SQLITE_Q_SPINE_DELETE, ids[i]), &one);
        sum += one;
    }
    return operation_give(&op, status, removed, &sum);
}

/* Recovers jobs from dead or late workers; *lost counts them. */
static pawl_status take_back(struct operation *op, int64_t *lost) {
    struct jobs_call call;
    pawl_status status = jobs_begin(&call, op, uuid_nil());
    if (status == PAWL_OK)
        status = jobs_sweep(&call);
    for (const struct job_sums *sums = call.sums; sums != NULL; sums = sums->next)
        *lost += sums->counts.lost;
    return jobs_end(&call, status);
}

pawl_status sqlite_jobs_maintain(struct store *store, int rows_max, struct jobs_maintain_result *out,
                                 pawl_error *err) {
    struct jobs_maintain_result result = {0};
    struct {
        enum sqlite_query query;
        int64_t *removed;
    } const sweeps[] = {{SQLITE_Q_SWEEP_RUNS, &result.runs_removed},
                        {SQLITE_Q_SWEEP_JOB_CLAIMS, &result.claims_removed},
                        {SQLITE_Q_SWEEP_FIRES, &result.fires_removed},
                        {SQLITE_Q_SWEEP_SIGNALS, &result.signals_removed},
                        {SQLITE_Q_SWEEP_REFUSALS, &result.refusals_removed},
                        {SQLITE_Q_SWEEP_SPINE, &result.spine_removed}};
    struct operation op =
        operation_write(store, "jobs_maintain", check_rows_max("jobs_maintain", rows_max, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = take_back(&op, &result.leases_expired);
    for (size_t i = 0; status == PAWL_OK && i < sizeof sweeps / sizeof sweeps[0]; i++)
        status = statement_run_count(SQL(&op, sweeps[i].query, op.now_ms, rows_max), sweeps[i].removed);
    if (status == PAWL_OK && result.claims_removed > 0)
        status = statement_run(statement_begin(&op, SQLITE_Q_SWEEP_JOB_DONE));
    return operation_give(&op, status, out, &result);
}
