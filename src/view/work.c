/* Output columns of jobs, limits, tasks, schedules, agents and executions. */
#include "view/work.h"

#include <string.h>

#include "base/str.h"
#include "domain/authority/scope.h"
#include "view/names.h"
#include "view/output/row.h"

static const char *const step_states[] = {"", "done", "failed", "skipped", "waiting"};
static const char *const kinds[] = {"", "once", "at", "every", "cron"};
static const char *const missed[] = {"", "skip", "one", "all"};
static const char *const overlaps[] = {"", "allow", "skip", "queue"};
static const char *const outcomes[] = {"", "succeeded", "failed", "dead", "cancelled", "lost"};

const char *job_state_name(enum job_state state) { return job_states[state]; }

/* Why it is dead; NULL unless it is. */
static const char *job_reason_name(const struct job_row *row) {
    static const char *const names[] = {NULL, "attempts", "permanent", "killed", "deadline", "refused"};
    return row->state == JOB_DEAD ? names[row->reason] : NULL;
}

#define ROW struct job_row
const struct column job_columns[JOB_COLUMNS] = {
    {.key = "id", INT_OF(job.id)},
    {.key = "state", WORD_OF(state, job_states)},
    {.key = "type", TEXT_OF(job.type), .cut = true},
    {.key = "task", TEXT_OF(job.task), .drop = 4},
    {.key = "queue", TEXT_OF(job.queue), .drop = 5},
    {.key = "key", TEXT_OF(job.key), .show = SHOW_WIDE},
    {.key = "priority", INT_OF(job.priority), .drop = 6},
    {.key = "attempts", INT_OF(job.attempts), .drop = 3},
    {.key = "max_attempts", INT_OF(job.max_attempts), .show = SHOW_WIDE},
    {.key = "due", TIME_OF(job.due_ms), .drop = 2},
    {.key = "deadline", TIME_OF(job.deadline_ms), .show = SHOW_WIDE},
    {.key = "instance", UUID_OF(instance), .show = SHOW_WIDE},
    {.key = "token", INT_OF(job.token), .show = SHOW_JSON},
    {.key = "lease_until", TIME_OF(job.lease_until_ms), .show = SHOW_WIDE},
    {.key = "wait_key", TEXT_OF(wait_key), .show = SHOW_WIDE},
    {.key = "schedule", TEXT_OF(job.schedule), .show = SHOW_WIDE},
    {.key = "agent", TEXT_OF(job.agent), .show = SHOW_WIDE},
    {.key = "progress", JSON_OF(job.progress), .content = true, .show = SHOW_WIDE},
    {COLUMN(TEXT, "reason"), .show = SHOW_WIDE},
    {.key = "died", TIME_OF(died_ms), .show = SHOW_WIDE},
    {.key = "error", TEXT_OF(error), .content = true, .cut = true, .drop = 1, .least = ERROR_LEAST},
    {.key = "payload", JSON_OF(job.payload), .content = true, .show = SHOW_JSON},
};
#undef ROW

void job_cells(const struct job_row *row, struct cell cells[static JOB_COLUMNS]) {
    const struct cell reason = cell_cstr(job_reason_name(row));
    row_cells(job_columns, JOB_COLUMNS, row, &reason, cells);
}

#define ROW struct job_step
const struct column step_columns[STEP_COLUMNS] = {
    {.key = "step", TEXT_OF(step)},
    {.key = "index", INT_OF(index)},
    {.key = "state", WORD_OF(state, step_states)},
    {.key = "attempt", INT_OF(attempt)},
    {COLUMN(TIME, "finished")},
    {COLUMN(DURATION, "duration")},
    {.key = "error", TEXT_OF(error), .content = true, .cut = true},
    {.key = "output", JSON_OF(output), .content = true, .show = SHOW_WIDE},
};
#undef ROW

void step_cells(const struct job_step *step, struct cell cells[static STEP_COLUMNS]) {
    bool waits = step->state == JOB_STEP_WAITING; /* recorded, but not finished */
    const struct cell made[] = {waits ? cell_none() : cell_time(step->finished_ms),
                                waits ? cell_none() : cell_duration(step->finished_ms - step->started_ms)};
    row_cells(step_columns, STEP_COLUMNS, step, made, cells);
}

#define ROW struct task
const struct column task_columns[TASK_COLUMNS] = {
    {.key = "name", TEXT_OF(name)},
    {.key = "agent", TEXT_OF(agent), .drop = 3},
    {.key = "queue", TEXT_OF(queue), .drop = 4},
    {.key = "priority", INT_OF(priority), .show = SHOW_WIDE},
    {.key = "max_attempts", INT_OF(max_attempts), .show = SHOW_WIDE},
    {.key = "version", INT_OF(version), .drop = 2},
    {.key = "updated", TIME_OF(updated_ms), .drop = 1},
    {.key = "scopes", JSON_OF(scopes), .show = SHOW_WIDE},
    {.key = "params", JSON_OF(params), .content = true, .show = SHOW_WIDE},
    {.key = "spec", JSON_OF(spec), .content = true, .show = SHOW_WIDE},
};
#undef ROW

#define ROW struct job_schedule
const struct column schedule_columns[SCHEDULE_COLUMNS] = {
    {.key = "name", TEXT_OF(name)},
    {.key = "task", TEXT_OF(task), .drop = 3},
    {.key = "kind", WORD_OF(kind, kinds)},
    {.key = "expr", TEXT_OF(expr)},
    {.key = "zone", TEXT_OF(zone), .drop = 4},
    {.key = "paused", BOOL_OF(paused), .drop = 2},
    {.key = "next", TIME_OF(next_ms)},
    {.key = "last", TIME_OF(last_ms), .drop = 1},
    {.key = "missed", WORD_OF(missed, missed), .show = SHOW_WIDE},
    {.key = "overlap", WORD_OF(overlap, overlaps), .show = SHOW_WIDE},
    {.key = "jitter", DURATION_OF(jitter_ms), .show = SHOW_WIDE},
};
#undef ROW

#define ROW struct agent
const struct column agent_columns[AGENT_COLUMNS] = {
    {.key = "name", TEXT_OF(name)},
    {.key = "disabled", BOOL_OF(disabled)},
    {.key = "scopes", JSON_OF(scopes)},
    {.key = "updated", TIME_OF(updated_ms), .drop = 1},
};
#undef ROW

#define ROW struct job_limit
const struct column limit_columns[LIMIT_COLUMNS] = {
    {.key = "key", TEXT_OF(key)},      {.key = "concurrency", INT_OF(concurrency)},
    {.key = "rate", INT_OF(rate)},     {.key = "rate_window", DURATION_OF(rate_ms)},
    {.key = "weight", INT_OF(weight)},
};
#undef ROW

#define ROW struct refusal
const struct column refusal_columns[REFUSAL_COLUMNS] = {
    {.key = "id", INT_OF(id)},
    {.key = "agent", TEXT_OF(agent)},
    {.key = "task", TEXT_OF(task)},
    {.key = "job", INT_OF(job_id), .absent = ABSENT_ZERO},
    {COLUMN(TEXT, "missing")},
    {.key = "made", TIME_OF(made_ms), .drop = 1},
    {COLUMN(TEXT, "reason"), .cut = true, .drop = 2},
};
#undef ROW

/* A refusal before the run has just the scope, one during the run has a sentence; absent: no scope was
 * missing, but the agent is disabled or gone, or used something that belongs to another agent. */
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
    const struct cell made[] = {cell_text(scope),
                                scope.ptr == one->missing.ptr ? cell_none() : cell_text(one->missing)};
    row_cells(refusal_columns, REFUSAL_COLUMNS, one, made, cells);
}

#define ROW struct task_run
const struct column execution_columns[EXECUTION_COLUMNS] = {
    {.key = "id", INT_OF(id)},
    {.key = "job_id", INT_OF(job_id)},
    {.key = "task", TEXT_OF(task)},
    {.key = "type", TEXT_OF(type), .drop = 5},
    {.key = "attempt", INT_OF(attempt), .drop = 4},
    {.key = "outcome", WORD_OF(outcome, outcomes)},
    {COLUMN(BOOL, "success"), .show = SHOW_JSON},
    {.key = "started", TIME_OF(started_ms), .drop = 3},
    {.key = "finished", TIME_OF(finished_ms), .drop = 2},
    {.key = "lease_owner", UUID_OF(instance), .show = SHOW_WIDE},
    {.key = "token", INT_OF(token), .show = SHOW_JSON},
    {.key = "error", TEXT_OF(error), .content = true, .cut = true, .drop = 1, .least = ERROR_LEAST},
    {.key = "steps", JSON_OF(steps), .content = true, .show = SHOW_JSON},
    {.key = "output", JSON_OF(output), .content = true, .show = SHOW_JSON},
    {.key = "input_hash", TEXT_OF(input_hash), .show = SHOW_JSON},
    {.key = "output_hash", TEXT_OF(output_hash), .show = SHOW_JSON},
    {.key = "hash", TEXT_OF(hash), .show = SHOW_JSON},
};
#undef ROW

const char *execution_outcome_name(enum run_outcome outcome) {
    return outcomes[outcome <= RUN_LOST ? outcome : 0];
}

void execution_cells(const struct task_run *run, struct cell cells[static EXECUTION_COLUMNS]) {
    const struct cell success = cell_bool(run->outcome == RUN_SUCCEEDED);
    row_cells(execution_columns, EXECUTION_COLUMNS, run, &success, cells);
}

#define ROW struct attempt_row
const struct column attempt_columns[ATTEMPT_COLUMNS] = {
    {.key = "attempt", INT_OF(number)},
    {.key = "outcome", WORD_OF(outcome, outcomes)},
    {.key = "started", TIME_OF(started_ms), .drop = 3},
    {.key = "finished", TIME_OF(finished_ms), .drop = 2},
    {COLUMN(DURATION, "duration")},
    {.key = "lease_owner", UUID_OF(instance), .show = SHOW_WIDE},
    {.key = "error", TEXT_OF(error), .content = true, .cut = true, .drop = 1, .least = ERROR_LEAST},
    {.key = "kind", WORD_OF(kind, kind_names), .show = SHOW_WIDE},
};
#undef ROW

void attempt_cells(const struct attempt_row *row, struct cell cells[static ATTEMPT_COLUMNS]) {
    const struct cell duration = cell_duration(row->finished_ms - row->started_ms);
    row_cells(attempt_columns, ATTEMPT_COLUMNS, row, &duration, cells);
}

#define ROW struct audit_report
const struct column report_columns[REPORT_COLUMNS] = {
    {.key = "sound", BOOL_OF(sound)},  {.key = "chains", INT_OF(chains)},
    {.key = "blocks", INT_OF(blocks)}, {.key = "anchors", INT_OF(anchors)},
    {.key = "rows", INT_OF(rows)},     {.key = "removed", INT_OF(removed)},
    {.key = "fault", TEXT_OF(fault)},  {COLUMN(TEXT, "note")},
};
#undef ROW

void report_cells(const struct audit_report *report, pawl_str expect,
                  struct cell cells[static REPORT_COLUMNS]) {
    const struct cell note =
        report->sound && report->anchors == 0 && str_absent(expect)
            ? cell_cstr("sound as far as it goes; nothing anchors it: give a head that was kept elsewhere")
            : cell_none();
    row_cells(report_columns, REPORT_COLUMNS, report, &note, cells);
}
