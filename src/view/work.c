/* Jobs, limits, tasks, schedules, agents and executions as rows of output. */
#include "view/work.h"

#include <string.h>

#include "domain/authority/scope.h"

const char *job_state_name(enum job_state state) {
    static const char *const names[] = {"", "ready", "running", "later", "waiting", "dead"};
    return names[state];
}

/* Why it is dead; NULL unless it is. */
static const char *job_reason_name(const struct job_row *row) {
    static const char *const names[] = {NULL, "attempts", "permanent", "killed", "deadline", "refused"};
    return row->state == JOB_DEAD ? names[row->reason] : NULL;
}

static const char *const step_names[] = {"", "done", "failed", "skipped", "waiting"};
static const char *const kinds[] = {"", "once", "at", "every", "cron"};
static const char *const missed[] = {"", "skip", "one", "all"};
static const char *const overlaps[] = {"", "allow", "skip", "queue"};
static const char *const outcomes[] = {"", "succeeded", "failed", "dead", "cancelled", "lost"};

const struct column job_columns[JOB_COLUMNS] = {
    {.key = "id", .type = CELL_INT},
    {.key = "state", .type = CELL_TEXT},
    {.key = "type", .type = CELL_TEXT, .cut = true},
    {.key = "task", .type = CELL_TEXT, .drop = 4},
    {.key = "queue", .type = CELL_TEXT, .drop = 5},
    {.key = "key", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "priority", .type = CELL_INT, .drop = 6},
    {.key = "attempts", .type = CELL_INT, .drop = 3},
    {.key = "max_attempts", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "due", .type = CELL_TIME, .drop = 2},
    {.key = "deadline", .type = CELL_TIME, .show = SHOW_WIDE},
    {.key = "instance", .type = CELL_UUID, .show = SHOW_WIDE},
    {.key = "token", .type = CELL_INT, .show = SHOW_JSON},
    {.key = "lease_until", .type = CELL_TIME, .show = SHOW_WIDE},
    {.key = "wait_key", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "schedule", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "agent", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "progress", .type = CELL_JSON, .content = true, .show = SHOW_WIDE},
    {.key = "reason", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "died", .type = CELL_TIME, .show = SHOW_WIDE},
    {.key = "error", .type = CELL_TEXT, .content = true, .cut = true, .drop = 1, .least = ERROR_LEAST},
    {.key = "payload", .type = CELL_JSON, .content = true, .show = SHOW_JSON}};

void job_cells(const struct job_row *row, struct cell cells[static JOB_COLUMNS]) {
    const struct job *job = &row->job;
    const struct cell made[JOB_COLUMNS] = {cell_int(job->id),
                                           cell_cstr(job_state_name(row->state)),
                                           cell_text(job->type),
                                           cell_text(job->task),
                                           cell_text(job->queue),
                                           cell_text(job->key),
                                           cell_int(job->priority),
                                           cell_int(job->attempts),
                                           cell_int(job->max_attempts),
                                           cell_time(job->due_ms),
                                           cell_time(job->deadline_ms),
                                           cell_uuid(row->instance),
                                           cell_int(job->token),
                                           cell_time(job->lease_until_ms),
                                           cell_text(row->wait_key),
                                           cell_text(job->schedule),
                                           cell_text(job->agent),
                                           cell_text(job->progress),
                                           cell_cstr(job_reason_name(row)),
                                           cell_time(row->died_ms),
                                           cell_text(row->error),
                                           cell_text(job->payload)};
    memcpy(cells, made, sizeof made);
}

const struct column step_columns[STEP_COLUMNS] = {
    {.key = "step", .type = CELL_TEXT},
    {.key = "index", .type = CELL_INT},
    {.key = "state", .type = CELL_TEXT},
    {.key = "attempt", .type = CELL_INT},
    {.key = "finished", .type = CELL_TIME},
    {.key = "duration", .type = CELL_DURATION},
    {.key = "error", .type = CELL_TEXT, .content = true, .cut = true},
    {.key = "output", .type = CELL_JSON, .content = true, .show = SHOW_WIDE}};

void step_cells(const struct job_step *step, struct cell cells[static STEP_COLUMNS]) {
    bool waits = step->state == JOB_STEP_WAITING; /* written down, but not at its end */
    const struct cell made[STEP_COLUMNS] = {cell_text(step->step),
                                            cell_int(step->index),
                                            cell_cstr(step_names[step->state]),
                                            cell_int(step->attempt),
                                            waits ? cell_none() : cell_time(step->finished_ms),
                                            waits ? cell_none()
                                                  : cell_duration(step->finished_ms - step->started_ms),
                                            cell_text(step->error),
                                            cell_text(step->output)};
    memcpy(cells, made, sizeof made);
}

const struct column task_columns[TASK_COLUMNS] = {
    {.key = "name", .type = CELL_TEXT},
    {.key = "agent", .type = CELL_TEXT, .drop = 3},
    {.key = "queue", .type = CELL_TEXT, .drop = 4},
    {.key = "priority", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "max_attempts", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "version", .type = CELL_INT, .drop = 2},
    {.key = "updated", .type = CELL_TIME, .drop = 1},
    {.key = "scopes", .type = CELL_JSON, .show = SHOW_WIDE},
    {.key = "params", .type = CELL_JSON, .content = true, .show = SHOW_WIDE},
    {.key = "spec", .type = CELL_JSON, .content = true, .show = SHOW_WIDE}};

void task_cells(const struct task *task, struct cell cells[static TASK_COLUMNS]) {
    const struct cell made[TASK_COLUMNS] = {cell_text(task->name),        cell_text(task->agent),
                                            cell_text(task->queue),       cell_int(task->priority),
                                            cell_int(task->max_attempts), cell_int(task->version),
                                            cell_time(task->updated_ms),  cell_text(task->scopes),
                                            cell_text(task->params),      cell_text(task->spec)};
    memcpy(cells, made, sizeof made);
}

const struct column schedule_columns[SCHEDULE_COLUMNS] = {
    {.key = "name", .type = CELL_TEXT},
    {.key = "task", .type = CELL_TEXT, .drop = 3},
    {.key = "kind", .type = CELL_TEXT},
    {.key = "expr", .type = CELL_TEXT},
    {.key = "zone", .type = CELL_TEXT, .drop = 4},
    {.key = "paused", .type = CELL_BOOL, .drop = 2},
    {.key = "next", .type = CELL_TIME},
    {.key = "last", .type = CELL_TIME, .drop = 1},
    {.key = "missed", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "overlap", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "jitter", .type = CELL_DURATION, .show = SHOW_WIDE}};

void schedule_cells(const struct job_schedule *one, struct cell cells[static SCHEDULE_COLUMNS]) {
    const struct cell made[SCHEDULE_COLUMNS] = {
        cell_text(one->name),           cell_text(one->task),
        cell_cstr(kinds[one->kind]),    cell_text(one->expr),
        cell_text(one->zone),           cell_bool(one->paused),
        cell_time(one->next_ms),        cell_time(one->last_ms),
        cell_cstr(missed[one->missed]), cell_cstr(overlaps[one->overlap]),
        cell_duration(one->jitter_ms)};
    memcpy(cells, made, sizeof made);
}

const struct column agent_columns[AGENT_COLUMNS] = {{.key = "name", .type = CELL_TEXT},
                                                    {.key = "disabled", .type = CELL_BOOL},
                                                    {.key = "scopes", .type = CELL_JSON},
                                                    {.key = "updated", .type = CELL_TIME, .drop = 1}};

void agent_cells(const struct agent *agent, struct cell cells[static AGENT_COLUMNS]) {
    const struct cell made[AGENT_COLUMNS] = {cell_text(agent->name), cell_bool(agent->disabled),
                                             cell_text(agent->scopes), cell_time(agent->updated_ms)};
    memcpy(cells, made, sizeof made);
}

const struct column limit_columns[LIMIT_COLUMNS] = {{.key = "key", .type = CELL_TEXT},
                                                    {.key = "concurrency", .type = CELL_INT},
                                                    {.key = "rate", .type = CELL_INT},
                                                    {.key = "rate_window", .type = CELL_DURATION},
                                                    {.key = "weight", .type = CELL_INT}};

void limit_cells(const struct job_limit *limit, struct cell cells[static LIMIT_COLUMNS]) {
    const struct cell made[LIMIT_COLUMNS] = {cell_text(limit->key), cell_int(limit->concurrency),
                                             cell_int(limit->rate), cell_duration(limit->rate_ms),
                                             cell_int(limit->weight)};
    memcpy(cells, made, sizeof made);
}

const struct column refusal_columns[REFUSAL_COLUMNS] = {
    {.key = "id", .type = CELL_INT},
    {.key = "agent", .type = CELL_TEXT},
    {.key = "task", .type = CELL_TEXT},
    {.key = "job", .type = CELL_INT},
    {.key = "missing", .type = CELL_TEXT},
    {.key = "made", .type = CELL_TIME, .drop = 1},
    {.key = "reason", .type = CELL_TEXT, .cut = true, .drop = 2}};

/* What was refused before it ran names the scope alone, what was refused while it ran says it in a sentence;
 * absent: no scope was missing, but the agent is disabled or gone, or what it wanted is another's. */
static pawl_str missing_scope(pawl_str said) {
    static const char lacks[] = "lacks the scope '";
    if (scope_check_name(said, false, NULL) == PAWL_OK)
        return said;
    const char *at = said.len > 0 ? memmem(said.ptr, said.len, lacks, sizeof lacks - 1) : NULL;
    if (at == NULL)
        return (pawl_str){NULL, 0};
    at += sizeof lacks - 1;
    const char *end = memchr(at, '\'', (size_t)(said.ptr + said.len - at));
    return end != NULL ? (pawl_str){at, (size_t)(end - at)} : (pawl_str){NULL, 0};
}

void refusal_cells(const struct refusal *one, struct cell cells[static REFUSAL_COLUMNS]) {
    pawl_str scope = missing_scope(one->missing);
    const struct cell made[REFUSAL_COLUMNS] = {cell_int(one->id),
                                               cell_text(one->agent),
                                               cell_text(one->task),
                                               one->job_id != 0 ? cell_int(one->job_id) : cell_none(),
                                               cell_text(scope),
                                               cell_time(one->made_ms),
                                               scope.ptr == one->missing.ptr ? cell_none()
                                                                             : cell_text(one->missing)};
    memcpy(cells, made, sizeof made);
}

const struct column execution_columns[EXECUTION_COLUMNS] = {
    {.key = "id", .type = CELL_INT},
    {.key = "job_id", .type = CELL_INT},
    {.key = "task", .type = CELL_TEXT},
    {.key = "type", .type = CELL_TEXT, .drop = 5},
    {.key = "attempt", .type = CELL_INT, .drop = 4},
    {.key = "outcome", .type = CELL_TEXT},
    {.key = "success", .type = CELL_BOOL, .show = SHOW_JSON},
    {.key = "started", .type = CELL_TIME, .drop = 3},
    {.key = "finished", .type = CELL_TIME, .drop = 2},
    {.key = "lease_owner", .type = CELL_UUID, .show = SHOW_WIDE},
    {.key = "token", .type = CELL_INT, .show = SHOW_JSON},
    {.key = "error", .type = CELL_TEXT, .content = true, .cut = true, .drop = 1, .least = ERROR_LEAST},
    {.key = "steps", .type = CELL_JSON, .content = true, .show = SHOW_JSON},
    {.key = "output", .type = CELL_JSON, .content = true, .show = SHOW_JSON},
    {.key = "input_hash", .type = CELL_TEXT, .show = SHOW_JSON},
    {.key = "output_hash", .type = CELL_TEXT, .show = SHOW_JSON},
    {.key = "hash", .type = CELL_TEXT, .show = SHOW_JSON}};

void execution_cells(const struct task_run *run, struct cell cells[static EXECUTION_COLUMNS]) {
    const struct cell made[EXECUTION_COLUMNS] = {cell_int(run->id),
                                                 cell_int(run->job_id),
                                                 cell_text(run->task),
                                                 cell_text(run->type),
                                                 cell_int(run->attempt),
                                                 cell_cstr(outcomes[run->outcome]),
                                                 cell_bool(run->outcome == RUN_SUCCEEDED),
                                                 cell_time(run->started_ms),
                                                 cell_time(run->finished_ms),
                                                 cell_uuid(run->instance),
                                                 cell_int(run->token),
                                                 cell_text(run->error),
                                                 cell_text(run->steps),
                                                 cell_text(run->output),
                                                 cell_text(run->input_hash),
                                                 cell_text(run->output_hash),
                                                 cell_text(run->hash)};
    memcpy(cells, made, sizeof made);
}
