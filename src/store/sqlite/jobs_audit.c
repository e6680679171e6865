/* What executions leave behind: runs, their chain of hashes, the spine; and what goes in time. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "domain/audit.h"
#include "store/sqlite/jobs.h"

static pawl_status note_event(struct jobs_call *call, const struct job *job, const struct job_end *end) {
    struct statement s = statement_begin(call->op, SQLITE_Q_SPINE_INSERT);
    bind_int(&s, job->id);
    bind_int(&s, (int64_t)end->outcome);
    bind_int(&s, job->attempts);
    bind_int(&s, call->op->now_ms);
    bind_uuid_or_null(&s, end->instance);
    bind_text(&s, job->task);
    bind_text(&s, job->type);
    bind_text(&s, end->error);
    bind_text(&s, end->output);
    return statement_run(&s);
}

static pawl_status keep_ms_of(struct jobs_call *call, pawl_str name, int64_t *keep_ms) {
    struct task task = {0};
    bool found = false;
    pawl_status status = str_absent(name) ? PAWL_OK : jobs_task_find(call->op, name, &task, &found);
    *keep_ms = found && task.retention_ms > 0 ? task.retention_ms : PAWL_RUN_RETENTION_MS_DEFAULT;
    return status;
}

static pawl_status write_run(struct jobs_call *call, const struct audit_run *row, const uint8_t *hash,
                             int64_t keep_ms) {
    struct statement s = statement_begin(call->op, SQLITE_Q_RUN_INSERT);
    bind_int(&s, row->id);
    bind_int(&s, row->job_id);
    bind_text(&s, row->task);
    bind_text(&s, row->type);
    bind_text(&s, row->queue);
    bind_int(&s, row->attempt);
    bind_uuid_or_null(&s, row->instance);
    bind_int(&s, row->token);
    bind_int(&s, row->started_ms);
    bind_int(&s, row->finished_ms);
    bind_int(&s, row->outcome);
    bind_text(&s, row->output);
    bind_text(&s, row->error);
    bind_text(&s, row->steps);
    bind_text(&s, row->input_hash);
    bind_text(&s, row->output_hash);
    bind_blob(&s, hash, SHA256_BYTES);
    bind_int(&s, row->finished_ms + keep_ms);
    bind_int(&s, call->block);
    bind_int(&s, (int64_t)(call->hashes.len / SHA256_BYTES));
    return statement_run(&s);
}

pawl_status jobs_record(struct jobs_call *call, const struct job *job, const struct job_end *end) {
    pawl_status status = PAWL_OK;
    if ((job->flags & JOB_EVENTS) != 0)
        status = note_event(call, job, end);
    if (status != PAWL_OK || (job->flags & JOB_AUDIT) == 0)
        return status;
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
    status = audit_run_hash(&row, hash, call->op->err);
    if (status == PAWL_OK)
        status = keep_ms_of(call, job->task, &keep_ms);
    if (status == PAWL_OK)
        status = write_run(call, &row, hash, keep_ms);
    buf_append(&call->hashes, hash, sizeof hash);
    return status;
}

static pawl_status chain_head(struct jobs_call *call, int64_t *number,
                              uint8_t previous[static SHA256_BYTES]) {
    struct statement s = statement_begin(call->op, SQLITE_Q_CHAIN_FIND);
    bind_blob(&s, call->chain.b, sizeof call->chain.b);
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
    pawl_status status = buf_status(&call->hashes, op->name, op->err);
    if (status == PAWL_OK)
        status = chain_head(call, &number, previous);
    if (status == PAWL_OK)
        status = audit_block_hash(previous, buf_str(&call->hashes), hash, op->err);
    if (status != PAWL_OK)
        return status;
    struct statement s = statement_begin(op, SQLITE_Q_BLOCK_INSERT);
    bind_blob(&s, call->chain.b, sizeof call->chain.b);
    bind_int(&s, number + 1);
    bind_int(&s, call->block);
    bind_int(&s, op->now_ms);
    bind_blob(&s, previous, sizeof previous);
    bind_blob(&s, hash, sizeof hash);
    bind_blob(&s, call->hashes.ptr, call->hashes.len);
    status = statement_run(&s);
    if (status == PAWL_OK) {
        struct statement head = statement_begin(op, SQLITE_Q_CHAIN_PUT);
        bind_blob(&head, call->chain.b, sizeof call->chain.b);
        bind_int(&head, number + 1);
        bind_blob(&head, hash, sizeof hash);
        status = statement_run(&head);
    }
    call->block = 0;
    buf_reset(&call->hashes);
    return status;
}

static struct audit_run row_read(struct statement *s, struct arena *arena) {
    return (struct audit_run){.id = column_int(s, 0),
                              .job_id = column_int(s, 1),
                              .task = column_copy(s, 2, arena),
                              .type = column_copy(s, 3, arena),
                              .queue = column_copy(s, 4, arena),
                              .attempt = (int)column_int(s, 5),
                              .instance = column_uuid(s, 6),
                              .token = column_int(s, 7),
                              .started_ms = column_int(s, 8),
                              .finished_ms = column_int(s, 9),
                              .outcome = (int)column_int(s, 10),
                              .output = column_copy(s, 11, arena),
                              .error = column_copy(s, 12, arena),
                              .steps = column_copy(s, 13, arena),
                              .input_hash = column_copy(s, 14, arena),
                              .output_hash = column_copy(s, 15, arena)};
}

static struct task_run run_read(struct statement *s, struct arena *arena) {
    struct audit_run row = row_read(s, arena);
    char *hex = arena_alloc(arena, SHA256_TEXT_BYTES);
    pawl_str hash = column_borrow(s, 16);
    for (size_t i = 0; hex != NULL && i < hash.len && i < SHA256_BYTES; i++) {
        hex[2 * i] = "0123456789abcdef"[(uint8_t)hash.ptr[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[(uint8_t)hash.ptr[i] & 15];
    }
    return (struct task_run){.id = row.id,
                             .job_id = row.job_id,
                             .task = row.task,
                             .type = row.type,
                             .queue = row.queue,
                             .attempt = row.attempt,
                             .instance = row.instance,
                             .token = row.token,
                             .started_ms = row.started_ms,
                             .finished_ms = row.finished_ms,
                             .outcome = (enum run_outcome)row.outcome,
                             .output = row.output,
                             .error = row.error,
                             .steps = row.steps,
                             .input_hash = row.input_hash,
                             .output_hash = row.output_hash,
                             .hash = str_from(hex)};
}

pawl_status sqlite_task_runs(struct store *store, const struct run_filter *filter, struct arena *arena,
                             struct task_run_list *out, pawl_error *err) {
    struct operation op;
    pawl_status status = check_list_limit("task_runs", filter->limit, err);
    if (status == PAWL_OK)
        status = operation_begin(&op, store, OPERATION_READ, "task_runs", err);
    if (status != PAWL_OK)
        return status;
    struct task_run_list list = {NULL, 0, 0};
    size_t cap = 0;
    int left = run_filter_scan(filter);
    struct statement s = statement_begin(&op, filter->job_id != 0         ? SQLITE_Q_RUN_LIST_JOB
                                              : !str_absent(filter->task) ? SQLITE_Q_RUN_LIST_TASK
                                                                          : SQLITE_Q_RUN_LIST);
    bind_int(&s, filter->before_id != 0 ? filter->before_id : INT64_MAX);
    bind_int(&s, filter->outcome);
    bind_int(&s, filter->since_ms);
    if (filter->job_id != 0)
        bind_int(&s, filter->job_id);
    if (!str_absent(filter->task) || filter->job_id != 0)
        bind_text(&s, filter->task);
    while (status == PAWL_OK && list.next_id == 0 && statement_next(&s)) {
        bool fits = column_int(&s, 17) != 0;
        if (fits)
            status = list_grow(&op, arena, (void **)&list.runs, &cap, list.count, sizeof *list.runs);
        if (fits && status == PAWL_OK)
            list.runs[list.count++] = run_read(&s, arena);
        if (--left == 0 || list.count == (size_t)filter->limit)
            list.next_id = column_int(&s, 0);
    }
    pawl_status ended = statement_end(&s);
    status = operation_end(&op, status == PAWL_OK ? ended : status);
    if (status == PAWL_OK)
        *out = list;
    return status;
}

static void found_fault(struct audit_report *report, const char *fault) {
    if (report->sound) {
        report->sound = false;
        report->fault = str_from(fault);
    }
}

static pawl_status verify_rows(struct operation *op, struct arena *arena, struct audit_report *report) {
    pawl_status status = PAWL_OK;
    struct statement s = statement_begin(op, SQLITE_Q_RUN_VERIFY);
    while (status == PAWL_OK && statement_next(&s)) {
        uint8_t hash[SHA256_BYTES];
        struct audit_run row = row_read(&s, op->scratch);
        report->rows++;
        status = audit_run_hash(&row, hash, op->err);
        pawl_str stored = column_borrow(&s, 16), listed = column_borrow(&s, 17);
        if (status != PAWL_OK)
            break;
        if (stored.len != SHA256_BYTES || memcmp(stored.ptr, hash, SHA256_BYTES) != 0)
            found_fault(report, arena_printf(arena, "task_run %" PRId64 " was changed", row.id));
        else if (listed.len != SHA256_BYTES || memcmp(listed.ptr, hash, SHA256_BYTES) != 0)
            found_fault(report, arena_printf(arena, "task_run %" PRId64 " is not in its block", row.id));
    }
    pawl_status ended = statement_end(&s);
    return status == PAWL_OK ? ended : status;
}

static pawl_status verify_blocks(struct operation *op, struct arena *arena, struct audit_report *report) {
    uint8_t before[SHA256_BYTES] = {0}, hash[SHA256_BYTES];
    pawl_uuid chain = uuid_nil();
    int64_t number = 0;
    pawl_status status = PAWL_OK;
    struct statement s = statement_begin(op, SQLITE_Q_BLOCK_LIST);
    while (status == PAWL_OK && statement_next(&s)) {
        pawl_uuid next = column_uuid(&s, 0);
        pawl_str previous = column_borrow(&s, 2), stored = column_borrow(&s, 3),
                 hashes = column_borrow(&s, 4);
        if (report->blocks == 0 || !uuid_equal(chain, next)) {
            chain = next;
            number = 0;
            memset(before, 0, sizeof before);
            report->chains++;
        }
        report->blocks++;
        report->removed += (int64_t)(hashes.len / SHA256_BYTES);
        if (previous.len != SHA256_BYTES || memcmp(previous.ptr, before, SHA256_BYTES) != 0 ||
            column_int(&s, 1) != ++number)
            found_fault(report, arena_printf(arena, "block %" PRId64 " does not follow the one before",
                                             column_int(&s, 1)));
        status = audit_block_hash(before, hashes, hash, op->err);
        if (status == PAWL_OK && (stored.len != SHA256_BYTES || memcmp(stored.ptr, hash, SHA256_BYTES) != 0))
            found_fault(report, arena_printf(arena, "block %" PRId64 " was changed", column_int(&s, 1)));
        memcpy(before, hash, sizeof before);
    }
    pawl_status ended = statement_end(&s);
    return status == PAWL_OK ? ended : status;
}

static pawl_status verify_heads(struct operation *op, struct audit_report *report) {
    struct statement s = statement_begin(op, SQLITE_Q_CHAIN_BROKEN);
    if (statement_next(&s))
        found_fault(report, "the last block of a chain is missing or was changed");
    return statement_end(&s);
}

pawl_status sqlite_audit_verify(struct store *store, struct arena *arena, struct audit_report *out,
                                pawl_error *err) {
    struct operation op;
    struct audit_report report = {.sound = true};
    pawl_status status = operation_begin(&op, store, OPERATION_READ, "audit_verify", err);
    if (status != PAWL_OK)
        return status;
    status = verify_rows(&op, arena, &report);
    if (status == PAWL_OK)
        status = verify_blocks(&op, arena, &report);
    if (status == PAWL_OK)
        status = verify_heads(&op, &report);
    report.removed -= report.rows;
    status = operation_end(&op, status);
    if (status == PAWL_OK)
        *out = report;
    return status;
}

pawl_status sqlite_spine_read(struct store *store, int limit, struct arena *arena, struct spine_events *out,
                              pawl_error *err) {
    struct operation op;
    pawl_status status = check_list_limit("spine_read", limit, err);
    if (status == PAWL_OK)
        status = operation_begin(&op, store, OPERATION_READ, "spine_read", err);
    if (status != PAWL_OK)
        return status;
    struct spine_events list = {NULL, 0};
    size_t cap = 0;
    struct statement s = statement_begin(&op, SQLITE_Q_SPINE_LIST);
    bind_int(&s, limit);
    while (status == PAWL_OK && statement_next(&s)) {
        status = list_grow(&op, arena, (void **)&list.events, &cap, list.count, sizeof *list.events);
        if (status == PAWL_OK)
            list.events[list.count++] = (struct spine_event){
                .id = column_int(&s, 0),
                .job_id = column_int(&s, 1),
                .event_type = str_from(run_outcome_event((enum run_outcome)column_int(&s, 2))),
                .attempt = (int)column_int(&s, 3),
                .made_ms = column_int(&s, 4),
                .instance = column_uuid(&s, 5),
                .task = column_copy(&s, 6, arena),
                .type = column_copy(&s, 7, arena),
                .error = column_copy(&s, 8, arena),
                .payload = column_copy(&s, 9, arena)};
    }
    pawl_status ended = statement_end(&s);
    status = operation_end(&op, status == PAWL_OK ? ended : status);
    if (status == PAWL_OK)
        *out = list;
    return status;
}

pawl_status sqlite_spine_remove(struct store *store, const int64_t *ids, size_t count, int64_t *removed,
                                pawl_error *err) {
    struct operation op;
    int64_t sum = 0;
    pawl_status status = check_job_ids("spine_remove", ids, count, err);
    if (status == PAWL_OK)
        status = operation_begin(&op, store, OPERATION_WRITE, "spine_remove", err);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        int64_t one = 0;
        struct statement s = statement_begin(&op, SQLITE_Q_SPINE_DELETE);
        bind_int(&s, ids[i]);
        status = statement_run_count(&s, &one);
        sum += one;
    }
    status = operation_end(&op, status);
    if (status == PAWL_OK)
        *removed = sum;
    return status;
}

pawl_status sqlite_jobs_maintain(struct store *store, int rows_max, struct jobs_maintain_result *out,
                                 pawl_error *err) {
    struct operation op;
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
    if (rows_max < 1)
        return error_set(err, PAWL_INVALID, "jobs_maintain", "rows_max %d is below 1", rows_max);
    pawl_status status = operation_begin(&op, store, OPERATION_WRITE, "jobs_maintain", err);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; status == PAWL_OK && i < sizeof sweeps / sizeof sweeps[0]; i++) {
        struct statement s = statement_begin(&op, sweeps[i].query);
        bind_int(&s, op.now_ms);
        bind_int(&s, rows_max);
        status = statement_run_count(&s, sweeps[i].removed);
    }
    if (status == PAWL_OK && result.claims_removed > 0) {
        struct statement s = statement_begin(&op, SQLITE_Q_SWEEP_JOB_DONE);
        status = statement_run(&s);
    }
    status = operation_end(&op, status);
    if (status == PAWL_OK)
        *out = result;
    return status;
}
