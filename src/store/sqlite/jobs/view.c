/* Queries about jobs on SQLite: lists, counts, why. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/sqlite/jobs/jobs.h"

/* The ids of the jobs that fit, in order; *next is 0 when there are no more. */
static pawl_status ids_in(struct operation *op, const struct job_filter *filter, struct id_list *ids,
                          int64_t *next) {
    bool cause = !str_absent(filter->fingerprint);
    size_t looked = 0, scan = filter->scan_max > 0 ? (size_t)filter->scan_max : PAWL_LIST_SCAN;
    if (str_absent(filter->queue) && str_absent(filter->task) && str_absent(filter->type) &&
        str_absent(filter->key) && scan < (size_t)filter->limit)
        scan = (size_t)filter->limit;
    ids->ids = arena_array(op->scratch, (size_t)filter->limit, sizeof *ids->ids);
    if (ids->ids == NULL)
        return operation_no_memory(op);
    struct statement s = SQL(op,
                             cause                          ? SQLITE_Q_JOB_LIST_DEAD
                             : filter->state == JOB_RUNNING ? SQLITE_Q_JOB_LIST_RUNNING
                                                            : SQLITE_Q_JOB_LIST_VIEW,
                             filter->id > filter->after_id ? filter->id - 1 : filter->after_id, filter->state,
                             filter->queue, filter->task, filter->type, filter->key);
    if (cause)
        bind_text(&s, filter->fingerprint);
    while (*next == 0 && statement_next(&s)) {
        int64_t id = column_int(&s, 0);
        if (filter->id != 0 && filter->id != id)
            break;
        if (column_int(&s, 1) != 0)
            ids->ids[ids->count++] = id;
        if (++looked == scan || ids->count == (size_t)filter->limit)
            *next = id;
    }
    return statement_end(&s);
}

static pawl_status rows_in(struct operation *op, const struct job_filter *filter, struct arena *arena,
                           struct job_rows *out) {
    struct id_list ids = {NULL, 0};
    int64_t next = 0;
    TRY(ids_in(op, filter, &ids, &next));
    struct job_rows list = {arena_array(arena, ids.count, sizeof *list.rows), ids.count, next};
    if (list.rows == NULL)
        return operation_no_memory(op);
    for (size_t i = 0; i < ids.count; i++)
        TRY(jobs_full(op, ids.ids[i], arena, &list.rows[i]));
    *out = list;
    return PAWL_OK;
}

pawl_status sqlite_jobs_jobs(struct store *store, const struct job_filter *filter, struct arena *arena,
                             struct job_rows *out, pawl_error *err) {
    struct job_rows list = {NULL, 0, 0};
    struct operation op = operation_read(store, "jobs", check_job_filter(filter, err), err);
    return operation_give(&op, rows_in(&op, filter, arena, &list), out, &list);
}

static pawl_status count_ahead(struct operation *op, const struct job *job, int64_t *ahead) {
    bool found = false;
    return statement_number(SQL(op, SQLITE_Q_JOB_AHEAD, job->queue, job->key,
                                jobrule_order(job->due_ms, job->priority), job->id, PAWL_LIST_MAX),
                            ahead, &found);
}

/* Why a ready job is not running. */
static pawl_status why_ready(struct operation *op, struct job_why *why) {
    const struct job *job = &why->row.job;
    bool alive = false, paused = false;
    TRY(statement_any(SQL(op, SQLITE_Q_JOB_WORKER, op->now_ms), &alive));
    TRY(statement_any(SQL(op, SQLITE_Q_PAUSE_FIND, PAUSE_QUEUE, job->queue), &paused));
    if (paused) {
        why->cause = JOB_WHY_PAUSED;
        return PAWL_OK;
    }
    if (!alive) {
        why->cause = JOB_WHY_NO_WORKER;
        return PAWL_OK;
    }
    if (!str_absent(job->key)) {
        struct jobrule_key key;
        TRY(jobs_key(op, job->key, &key));
        why->running = key.running;
        why->limit = key.limit.concurrency;
        if (key.limit.concurrency > 0 && key.running >= key.limit.concurrency) {
            why->cause = JOB_WHY_CONCURRENCY;
            return PAWL_OK;
        }
        if (jobrule_room(&key, op->now_ms, 1) == 0) {
            why->cause = JOB_WHY_RATE;
            why->until_ms = jobrule_rate_until_ms(&key, op->now_ms);
            return PAWL_OK;
        }
    }
    why->cause = JOB_WHY_READY;
    return count_ahead(op, job, &why->ahead);
}

static pawl_status why_in(struct operation *op, int64_t id, struct arena *arena, struct job_why *why) {
    struct job_rows rows = {.count = 0};
    TRY(rows_in(op, &(struct job_filter){.id = id, .limit = 1}, arena, &rows));
    if (rows.count == 0)
        return job_unknown(id, op->err);
    *why = (struct job_why){.row = rows.rows[0], .now_ms = op->now_ms};
    const struct job *job = &why->row.job;
    switch (why->row.state) {
    case JOB_READY:
        return why_ready(op, why);
    case JOB_RUNNING:
        why->until_ms = job->lease_until_ms;
        why->cause = job->lease_until_ms <= op->now_ms ? JOB_WHY_LEASE_OVER : JOB_WHY_RUNNING;
        break;
    case JOB_LATER:
        why->cause = JOB_WHY_LATER;
        why->until_ms = job->due_ms;
        break;
    case JOB_WAITING:
        why->cause = JOB_WHY_WAITING;
        why->until_ms = job->due_ms == JOBRULE_NEVER ? 0 : job->due_ms;
        break;
    case JOB_DEAD:
        why->cause = JOB_WHY_DEAD;
        break;
    }
    return PAWL_OK;
}

pawl_status sqlite_jobs_why(struct store *store, int64_t id, struct arena *arena, struct job_why *out,
                            pawl_error *err) {
    struct job_why why;
    struct operation op = operation_read(store, "job_why", PAWL_OK, err);
    return operation_give(&op, why_in(&op, id, arena, &why), out, &why);
}

static pawl_status backlog_in(struct operation *op, int look_max, struct arena *arena,
                              struct job_backlog *out) {
    size_t cap = 0;
    int64_t ready = 0, later = 0;
    bool found = false;
    pawl_status status = PAWL_OK;
    struct statement s = SQL(op, SQLITE_Q_JOB_BACKLOG, look_max);
    while (status == PAWL_OK && statement_next(&s)) {
        status = list_grow(op, arena, (void **)&out->priorities, &cap, out->count, sizeof *out->priorities);
        if (status != PAWL_OK)
            break;
        out->priorities[out->count] = (struct job_priority){
            .priority = (int)column_int(&s, 0), .ready = column_int(&s, 1), .later = column_int(&s, 2)};
        ready += out->priorities[out->count].ready;
        later += out->priorities[out->count++].later;
    }
    pawl_status ended = statement_end(&s);
    out->all = ready < look_max && later < look_max;
    if (status != PAWL_OK || ended != PAWL_OK)
        return status != PAWL_OK ? status : ended;
    return statement_number(SQL(op, SQLITE_Q_JOB_LATE, look_max, op->now_ms), &out->overdue, &found);
}

pawl_status sqlite_jobs_backlog(struct store *store, int look_max, struct arena *arena,
                                struct job_backlog *out, pawl_error *err) {
    struct job_backlog backlog = {.count = 0};
    struct operation op = operation_read(store, "job_backlog", check_backlog_look(look_max, err), err);
    return operation_give(&op, backlog_in(&op, look_max, arena, &backlog), out, &backlog);
}
