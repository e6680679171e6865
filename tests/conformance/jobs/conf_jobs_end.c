/* How jobs end: retried, dead, cancelled, snoozed, waiting; what the audit and the spine keep. */
#include "conformance/harness_jobs.h"

/* covers: J08 J09 J10 J11 B4.3 B4.6 */
static void a_failure_is_retried_with_backoff_and_dies_at_the_limit(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id = add(c, (struct job_new){.type = STR("a"), .max_attempts = 3, .flags = JOB_AUDIT});
    for (int attempt = 1; attempt <= 2; attempt++) {
        struct job_list got = take(c, 1, 1);
        assert_int_equal(got.jobs[0].attempts, attempt);
        struct finish_answer answer = job_fail(c, 1, &got.jobs[0], -1);
        assert_int_equal(answer.result, JOB_RESULT_RETRY);
        struct job_row row = job_row_of(c, id);
        assert_int_equal(row.state, JOB_LATER);
        int64_t full = 1000 << (attempt - 1);
        assert_in_range(row.job.due_ms - c->now_ms, full / 2, full); /* 50 to 100 % */
        assert_string_equal(row.error.ptr, "it broke");
        advance(c, full);
    }
    struct job_list got = take(c, 1, 1);
    assert_int_equal(job_fail(c, 1, &got.jobs[0], -1).result, JOB_RESULT_DEAD);
    struct job_row row = job_row_of(c, id);
    assert_int_equal(row.state, JOB_DEAD);
    assert_int_equal(row.reason, JOB_DEAD_ATTEMPTS);
    assert_int_equal(row.died_ms, c->now_ms);
    assert_int_equal(row.job.attempts, 3);
    assert_int_equal(row.fingerprint.len, 16);
    assert_int_equal(job_why_of(c, id).cause, JOB_WHY_DEAD);
    struct task_run_list runs = job_runs(c, id);
    assert_int_equal(runs.count, 3);
    assert_int_equal(runs.runs[0].outcome, RUN_DEAD);
    assert_int_equal(runs.runs[2].outcome, RUN_FAILED);
    assert_int_equal(runs.runs[2].attempt, 1);
    struct job_counts counts = job_counted(c, "default");
    assert_int_equal(counts.failed, 2);
    assert_int_equal(counts.died, 1);
    assert_int_equal(counts.dead, 1);
}

static void dead_jobs_group_come_back_or_go(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t ids[3];
    for (int i = 0; i < 3; i++)
        ids[i] = add(
            c, (struct job_new){.type = STR("a"), .unique_key = str_from(arena_printf(c->arena, "u%d", i))});
    struct job_list got = take(c, 1, 3);
    for (int i = 0; i < 3; i++) {
        struct finish_item item = finish_of(&got.jobs[i], JOB_FAIL);
        item.error_class = CLASS_PERMANENT;
        item.error = str_from(i < 2 ? arena_printf(c->arena, "no user %d", 17 + i) : "auth");
        assert_int_equal(job_finish(c, 1, item).result, JOB_RESULT_DEAD);
    }
    struct job_dead_groups groups;
    ok(c, c->jobs->dead_groups(c->store, 10, c->arena, &groups, &c->err));
    assert_int_equal(groups.count, 2);
    assert_int_equal(groups.groups[0].count, 2);
    assert_string_equal(groups.groups[0].sample_error.ptr, "no user 18");
    assert_int_equal(groups.groups[1].last_ms, c->now_ms);
    struct job_rows rows;
    struct job_filter filter = {.fingerprint = groups.groups[0].fingerprint, .limit = 10};
    ok(c, c->jobs->jobs(c->store, &filter, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 2);
    int64_t other = add(c, (struct job_new){.type = STR("b"), .unique_key = STR("u0")});
    assert_int_equal(job_redrive(c, ids[0], false), ANSWER_CONFLICT); /* its unique key is taken */
    assert_int_equal(job_redrive(c, ids[1], false), ANSWER_APPLIED);
    assert_int_equal(job_redrive(c, ids[1], false), ANSWER_NOT_FOUND);
    assert_int_equal(job_redrive(c, ids[2], true), ANSWER_APPLIED);
    assert_int_equal(job_row_of(c, ids[2]).state, 0);
    struct job_row row = job_row_of(c, ids[1]);
    assert_int_equal(row.state, JOB_READY);
    assert_int_equal(row.job.attempts, 0);
    assert_int_equal(job_cancel(c, ids[0]), ANSWER_NOT_FOUND); /* the dead stay */
    assert_int_equal(job_cancel(c, other), ANSWER_APPLIED);
    assert_int_equal(job_redrive(c, ids[0], false), ANSWER_APPLIED);
    struct job_counts counts = job_counted(c, "default");
    assert_int_equal(counts.redriven, 2);
    assert_int_equal(counts.discarded, 1);
    assert_int_equal(counts.dead, 0);
}

/* covers: J14 B4.12 */
static void snooze_and_release_burn_no_attempt(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id = add(c, (struct job_new){.type = STR("a"), .flags = JOB_AUDIT, .max_attempts = 1});
    struct job_list got = take(c, 1, 1);
    struct finish_item item = finish_of(&got.jobs[0], JOB_SNOOZE);
    item.delay_ms = 3000;
    assert_int_equal(job_finish(c, 1, item).answer, ANSWER_APPLIED);
    assert_int_equal(job_row_of(c, id).state, JOB_LATER);
    assert_int_equal(job_row_of(c, id).job.attempts, 0);
    advance(c, 3000);
    got = take(c, 1, 1);
    item = finish_of(&got.jobs[0], JOB_RELEASE);
    item.error = STR("no handler"); /* is kept until there is a newer one */
    assert_int_equal(job_finish(c, 1, item).answer, ANSWER_APPLIED);
    assert_int_equal(job_row_of(c, id).state, JOB_READY);
    assert_true(str_equal(job_row_of(c, id).error, item.error));
    got = take(c, 1, 1);
    assert_int_equal(got.jobs[0].attempts, 1);
    assert_int_equal(job_runs(c, id).count, 0);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
}

static void a_job_that_kills_its_workers_dies(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id =
        add(c, (struct job_new){.type = STR("a"), .max_attempts = 2, .flags = JOB_AUDIT | JOB_EVENTS});
    (void)take(c, 1, 1);
    advance(c, JOB_LEASE_MS + 1000);
    (void)take(c, 1, 1);
    advance(c, JOB_LEASE_MS + 1000);
    assert_int_equal(take(c, 1, 1).count, 0);
    assert_int_equal(job_row_of(c, id).state, JOB_DEAD);
    assert_int_equal(job_row_of(c, id).reason, JOB_DEAD_KILLED);
    struct task_run_list runs = job_runs(c, id);
    assert_int_equal(runs.count, 2);
    assert_int_equal(runs.runs[0].outcome, RUN_DEAD);
    assert_int_equal(runs.runs[1].outcome, RUN_LOST);
    struct spine_events events;
    ok(c, c->jobs->spine_read(c->store, 10, c->arena, &events, &c->err));
    assert_int_equal(events.count, 2);
    assert_string_equal(events.events[0].event_type.ptr, "job.lost");
    assert_string_equal(events.events[1].event_type.ptr, "job.dead");
}

static void deadlines_end_what_comes_too_late(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t never =
        add(c, (struct job_new){.type = STR("a"), .deadline_ms = c->now_ms + 1000, .flags = JOB_AUDIT});
    int64_t retry =
        add(c, (struct job_new){.type = STR("b"), .deadline_ms = c->now_ms + 9000, .delay_ms = 1000});
    advance(c, 1000);
    struct job_list got = take(c, 1, 10);
    assert_string_equal(types(c, got), "b");
    assert_int_equal(got.jobs[0].deadline_ms, c->now_ms + 8000);
    assert_int_equal(job_row_of(c, never).state, JOB_DEAD);
    assert_int_equal(job_row_of(c, never).reason, JOB_DEAD_DEADLINE);
    assert_int_equal(job_row_of(c, never).job.attempts, 0);
    assert_int_equal(job_runs(c, never).runs[0].outcome, RUN_DEAD);
    assert_int_equal(job_runs(c, never).runs[0].token, 0);
    assert_int_equal(job_fail(c, 1, &got.jobs[0], 8000).result, JOB_RESULT_DEAD);
    assert_int_equal(job_row_of(c, retry).reason, JOB_DEAD_DEADLINE);
    assert_int_equal(job_redrive(c, retry, false), ANSWER_APPLIED);
    assert_int_equal(job_row_of(c, retry).job.deadline_ms, 0);
    assert_int_equal(take(c, 1, 1).count, 1);
}

static void cancelling_stops_what_waits_and_asks_what_runs(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t ready = add(c, (struct job_new){.type = STR("a"), .flags = JOB_AUDIT, .unique_key = STR("k")});
    int64_t later = add(c, (struct job_new){.type = STR("b"), .delay_ms = 1000});
    assert_int_equal(job_cancel(c, ready), ANSWER_APPLIED);
    assert_int_equal(job_cancel(c, later), ANSWER_APPLIED);
    assert_int_equal(job_cancel(c, later), ANSWER_NOT_FOUND);
    assert_int_equal(job_runs(c, ready).runs[0].outcome, RUN_CANCELLED);
    int64_t ids[3];
    for (int i = 0; i < 3; i++)
        ids[i] = add(c, (struct job_new){.type = STR("c"), .flags = JOB_AUDIT});
    struct job_list got = take(c, 1, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(job_cancel(c, ids[i]), ANSWER_APPLIED);
    assert_int_equal(job_cancel(c, ids[0]), ANSWER_APPLIED);
    assert_int_equal(job_row_of(c, ids[0]).job.cancel_ms, c->now_ms);
    struct renew_answer renewed =
        job_renew(c, 1, (struct renew_item){{got.jobs[0].token, ids[0]}, ABSENT}, JOB_LEASE_MS);
    assert_int_equal(renewed.answer, ANSWER_APPLIED);
    assert_true(renewed.cancel);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED); /* it was quicker */
    assert_int_equal(job_fail(c, 1, &got.jobs[1], 0).result, JOB_RESULT_CANCELLED);
    assert_string_equal(job_runs(c, ids[1]).runs[0].error.ptr, "cancelled; it ended with: it broke");
    assert_int_equal(job_row_of(c, ids[1]).state, 0);
    advance(c, JOB_LEASE_MS + 1000);
    assert_int_equal(take(c, 1, 3).count, 0); /* lost, and nobody wants it */
    struct job_counts counts = job_counted(c, "default");
    assert_int_equal(counts.cancelled, 4);
    assert_int_equal(counts.done, 1);
    assert_int_equal(counts.ready + counts.running + counts.later, 0);
    assert_int_equal(try_add(c, (struct job_new){.type = STR("a"), .unique_key = STR("k")}, &ready),
                     ANSWER_APPLIED);
}

static enum store_answer put_step(struct conf *c, const struct job *job, const char *step, int index,
                                  enum job_step_state step_state) {
    struct job_answers answers;
    struct job_step one = {.step = str_from(step),
                           .index = index,
                           .state = step_state,
                           .attempt = 1,
                           .duration_ms = 5,
                           .output = STR("{\"ok\":1}"),
                           .input_hash = STR("aa")};
    struct steps_put in = {instance_id(1), {job->token, job->id}, &one, 1};
    ok(c, c->jobs->steps_put(c->store, &in, c->arena, &answers, &c->err));
    return answers.answers[0];
}

/* covers: J46 */
static void finished_steps_are_kept_for_the_next_attempt(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id = add(c, job_typed("pipeline"));
    struct job_list got = take(c, 1, 1);
    assert_int_equal(put_step(c, &got.jobs[0], "fetch", 0, JOB_STEP_DONE), ANSWER_APPLIED);
    assert_int_equal(put_step(c, &got.jobs[0], "each", 1, JOB_STEP_FAILED), ANSWER_APPLIED);
    assert_int_equal(put_step(c, &got.jobs[0], "each", 0, JOB_STEP_WAITING), ANSWER_APPLIED);
    assert_int_equal(put_step(c, &got.jobs[0], "each", 0, JOB_STEP_SKIPPED), ANSWER_APPLIED);
    assert_int_equal(put_step(c, &got.jobs[0], "fetch", 0, JOB_STEP_FAILED), ANSWER_DUPLICATE);
    assert_int_equal(job_fail(c, 1, &got.jobs[0], 0).result, JOB_RESULT_RETRY);
    assert_int_equal(put_step(c, &got.jobs[0], "late", 0, JOB_STEP_DONE), ANSWER_STALE);
    struct job_steps steps;
    ok(c, c->jobs->steps_read(c->store, id, c->arena, &steps, &c->err));
    assert_int_equal(steps.count, 3);
    assert_string_equal(steps.steps[0].step.ptr, "each");
    assert_int_equal(steps.steps[0].state, JOB_STEP_SKIPPED);
    assert_int_equal(steps.steps[1].index, 1);
    assert_string_equal(steps.steps[2].step.ptr, "fetch");
    assert_string_equal(steps.steps[2].output.ptr, "{\"ok\":1}");
    assert_int_equal(steps.steps[2].finished_ms, c->now_ms);
    assert_int_equal(steps.steps[2].started_ms, c->now_ms - 5);
    got = take(c, 1, 1);
    assert_int_equal(put_step(c, &got.jobs[0], "each", 1, JOB_STEP_DONE), ANSWER_APPLIED);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    ok(c, c->jobs->steps_read(c->store, id, c->arena, &steps, &c->err));
    assert_int_equal(steps.count, 0);
}

static struct wake_result wake_jobs(struct conf *c, const char *key, const char *payload, int64_t keep_ms) {
    struct wake_result result;
    struct job_wake in = {str_from(key), str_from(payload), keep_ms};
    ok(c, c->jobs->wake(c->store, &in, &result, &c->err));
    return result;
}

static void a_job_waits_for_a_signal_or_a_time(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id = add(c, job_typed("a"));
    int64_t timed = add(c, job_typed("b"));
    struct job_list got = take(c, 1, 2);
    struct finish_item item = finish_of(&got.jobs[0], JOB_WAIT);
    item.delay_ms = -1;
    item.wait_key = STR("paid:7");
    item.wait_step = STR("wait");
    assert_int_equal(job_finish(c, 1, item).answer, ANSWER_APPLIED);
    item.ref.id = got.jobs[1].id;
    item.delay_ms = 5000;
    item.wait_key = STR("other");
    assert_int_equal(job_finish(c, 1, item).answer, ANSWER_APPLIED);
    assert_int_equal(job_row_of(c, id).state, JOB_WAITING);
    assert_int_equal(job_row_of(c, id).job.attempts, 0);
    assert_int_equal(job_why_of(c, id).cause, JOB_WHY_WAITING);
    assert_int_equal(job_why_of(c, id).until_ms, 0);
    assert_int_equal(job_why_of(c, timed).until_ms, c->now_ms + 5000);
    assert_int_equal(job_counted(c, "default").waiting, 2);
    assert_int_equal(take(c, 1, 2).count, 0);
    assert_int_equal(wake_jobs(c, "paid:7", "{\"sum\":3}", 0).woken, 1);
    assert_int_equal(wake_jobs(c, "paid:7", "1", 0).woken, 0);
    got = take(c, 1, 2);
    assert_string_equal(types(c, got), "a");
    struct job_steps steps;
    ok(c, c->jobs->steps_read(c->store, id, c->arena, &steps, &c->err));
    assert_int_equal(steps.count, 1);
    assert_string_equal(steps.steps[0].step.ptr, "wait");
    assert_string_equal(steps.steps[0].output.ptr, "{\"sum\":3}");
    assert_int_equal(steps.steps[0].attempt, 1);
    advance(c, 5000);
    struct job_list later = take(c, 1, 2);
    assert_string_equal(types(c, later), "b"); /* by the time: no step says that the signal came */
    ok(c, c->jobs->steps_read(c->store, timed, c->arena, &steps, &c->err));
    assert_int_equal(steps.count, 0);
    assert_int_equal(job_counted(c, "default").waiting, 0);
}

static void a_signal_that_came_first_is_kept(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id = add(c, job_typed("a"));
    assert_true(wake_jobs(c, "k", "0", 1000).kept);
    advance(c, 1000); /* for so long and no longer */
    assert_true(wake_jobs(c, "k", "1", 10000).kept);
    assert_true(wake_jobs(c, "k", "2", 10000).kept);
    assert_false(wake_jobs(c, "other", "2", 0).kept);
    for (int i = 0; i < 3; i++) {
        struct job_list got = take(c, 1, 1);
        struct finish_item item = finish_of(&got.jobs[0], JOB_WAIT);
        item.delay_ms = -1;
        item.wait_key = STR("k");
        item.wait_step = str_from(arena_printf(c->arena, "w%d", i));
        assert_int_equal(job_finish(c, 1, item).answer, ANSWER_APPLIED);
        assert_int_equal(job_row_of(c, id).state, i < 2 ? JOB_READY : JOB_WAITING);
    }
    struct job_steps steps;
    ok(c, c->jobs->steps_read(c->store, id, c->arena, &steps, &c->err));
    assert_int_equal(steps.count, 2);
    assert_string_equal(steps.steps[0].output.ptr, "1");
    assert_string_equal(steps.steps[1].output.ptr, "2");
    assert_int_equal(steps.steps[1].attempt, 1);
}

/* covers: J49 B4.4 J47 */
static void an_execution_leaves_one_row_one_event_and_a_chain(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id = add(c, (struct job_new){.type = STR("a"), .flags = JOB_AUDIT | JOB_EVENTS});
    struct job_list got = take(c, 1, 1);
    advance(c, 700);
    struct finish_item item = finish_of(&got.jobs[0], JOB_COMPLETE);
    item.duration_ms = 650;
    item.output = STR("{\"sum\": 3}");
    item.steps = STR("[{\"id\":\"s\"}]");
    item.input_hash = STR("abc");
    item.output_hash = STR("def");
    assert_int_equal(job_finish(c, 1, item).answer, ANSWER_APPLIED);
    struct task_run_list runs = job_runs(c, id);
    assert_int_equal(runs.count, 1);
    struct task_run run = runs.runs[0];
    assert_int_equal(run.outcome, RUN_SUCCEEDED);
    assert_int_equal(id_number(run.instance), 1);
    assert_int_equal(run.token, got.jobs[0].token);
    assert_int_equal(run.finished_ms, c->now_ms);
    assert_int_equal(run.started_ms, c->now_ms - 650);
    assert_string_equal(run.output.ptr, "{\"sum\": 3}");
    assert_string_equal(run.steps.ptr, "[{\"id\":\"s\"}]");
    assert_string_equal(run.input_hash.ptr, "abc");
    assert_int_equal(run.hash.len, 64);
    struct audit_report report;
    ok(c, c->jobs->audit_verify(c->store, (pawl_str){NULL, 0}, c->arena, &report, &c->err));
    assert_true(report.sound);
    assert_int_equal(report.rows, 1);
    assert_int_equal(report.blocks, 1);
    struct spine_events events;
    ok(c, c->jobs->spine_read(c->store, 10, c->arena, &events, &c->err));
    assert_int_equal(events.count, 1);
    assert_string_equal(events.events[0].event_type.ptr, "job.succeeded");
    assert_string_equal(events.events[0].payload.ptr, "{\"sum\": 3}");
    assert_int_equal(events.events[0].job_id, id);
    int64_t removed = 0, both[2] = {events.events[0].id, 999999};
    ok(c, c->jobs->spine_remove(c->store, both, 2, &removed, &c->err));
    assert_int_equal(removed, 1);
    ok(c, c->jobs->spine_read(c->store, 10, c->arena, &events, &c->err));
    assert_int_equal(events.count, 0);
}

static void an_event_that_nobody_passes_on_is_kept_for_a_week(void **state) {
    struct conf *c = *state;
    struct jobs_maintain_result swept;
    struct spine_events events;
    for (int i = 0; i < 4; i++) {
        join_jobs(c, i + 1);
        add(c, (struct job_new){.type = STR("a"), .flags = JOB_EVENTS});
        struct job_list got = take(c, i + 1, 1);
        assert_int_equal(job_done(c, i + 1, &got.jobs[0]), ANSWER_APPLIED);
        advance(c, i == 2 ? 604800000 : 0);
    }
    ok(c, c->jobs->maintain(c->store, 100, &swept, &c->err));
    assert_int_equal(swept.spine_removed, 0);
    advance(c, 1);
    ok(c, c->jobs->maintain(c->store, 2, &swept, &c->err));
    assert_int_equal(swept.spine_removed, 2);
    ok(c, c->jobs->maintain(c->store, 2, &swept, &c->err));
    assert_int_equal(swept.spine_removed, 1);
    ok(c, c->jobs->spine_read(c->store, 10, c->arena, &events, &c->err));
    assert_int_equal(events.count, 1);
}

static void the_audit_outlives_its_rows(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    for (int i = 0; i < 3; i++) {
        add(c, (struct job_new){.type = STR("a"), .flags = JOB_AUDIT});
        struct job_list got = take(c, 1, 1);
        assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    }
    struct audit_report report;
    struct jobs_maintain_result swept;
    ok(c, c->jobs->audit_verify(c->store, (pawl_str){NULL, 0}, c->arena, &report, &c->err));
    assert_int_equal(report.blocks, 3);
    assert_int_equal(report.removed, 0);
    advance(c, INT64_C(2592000001));
    ok(c, c->jobs->maintain(c->store, 2, &swept, &c->err));
    assert_int_equal(swept.runs_removed, 2);
    assert_int_equal(swept.claims_removed, 2);
    ok(c, c->jobs->audit_verify(c->store, (pawl_str){NULL, 0}, c->arena, &report, &c->err));
    assert_true(report.sound);
    assert_int_equal(report.rows, 1);
    assert_int_equal(report.removed, 2);
}

static void leases_and_executions_are_counted(void **state) {
    struct conf *c = *state;
    struct run_sums sums;
    struct jobs_maintain_result swept;
    for (int i = 1; i <= 2; i++) {
        join_jobs(c, i);
        for (int k = 0; k < 3; k++)
            add(c, (struct job_new){.type = STR("a"), .flags = JOB_AUDIT});
    }
    struct job_list first = take(c, 1, 4), second = take(c, 2, 2);
    assert_int_equal(instance_row(c, 1).jobs, 4);
    assert_int_equal(instance_row(c, 2).jobs, 2);
    advance(c, 100);
    struct finish_item item = finish_of(&first.jobs[0], JOB_COMPLETE);
    item.duration_ms = 50;
    assert_int_equal(job_finish(c, 1, item).answer, ANSWER_APPLIED);
    item = finish_of(&second.jobs[0], JOB_FAIL);
    item.error_class = CLASS_RETRYABLE;
    item.duration_ms = 30;
    assert_int_equal(job_finish(c, 2, item).answer, ANSWER_APPLIED);
    assert_int_equal(instance_row(c, 1).jobs, 3);
    ok(c, c->jobs->run_sums(c->store, c->now_ms - 10, uuid_nil(), &sums, &c->err));
    assert_int_equal(sums.runs, 2);
    assert_int_equal(sums.succeeded, 1);
    assert_int_equal(sums.duration_ms, 80);
    assert_int_equal(sums.workers, 2);
    ok(c, c->jobs->run_sums(c->store, c->now_ms, instance_id(2), &sums, &c->err));
    assert_int_equal(sums.runs, 1);
    assert_int_equal(sums.succeeded, 0);
    ok(c, c->jobs->run_sums(c->store, c->now_ms + 1, uuid_nil(), &sums, &c->err));
    assert_int_equal(sums.runs, 0);
    advance(c, 3600000); /* nobody beats: their leases are over */
    ok(c, c->jobs->maintain(c->store, 100, &swept, &c->err));
    assert_int_equal(swept.leases_expired, 4);
    assert_int_equal(instance_row(c, 1).jobs, 0);
    ok(c, c->jobs->maintain(c->store, 100, &swept, &c->err));
    assert_int_equal(swept.leases_expired, 0);
}

static void an_anchor_names_what_was_executed(void **state) {
    struct conf *c = *state;
    struct audit_head head, again;
    struct audit_report report;
    pawl_str unknown = STR("00000000000000000000000000000000000000000000000000000000000000aa");
    ok(c, c->jobs->audit_anchor(c->store, 0, &head, &c->err));
    assert_int_equal(head.number, 0);
    for (int i = 1; i <= 2; i++) {
        join_jobs(c, i);
        add(c, (struct job_new){.type = STR("a"), .flags = JOB_AUDIT});
        struct job_list got = take(c, i, 1);
        assert_int_equal(job_done(c, i, &got.jobs[0]), ANSWER_APPLIED);
        ok(c, c->jobs->audit_anchor(c->store, 0, &head, &c->err));
        assert_int_equal(head.number, i);
        assert_int_equal(head.hash[63] != 0 && head.hash[64] == 0, 1);
        ok(c, c->jobs->audit_anchor(c->store, 0, &again, &c->err)); /* nothing new */
        assert_int_equal(again.number, i);
        assert_string_equal(again.hash, head.hash);
    }
    add(c, (struct job_new){.type = STR("a"), .flags = JOB_AUDIT});
    struct job_list got = take(c, 1, 1);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    ok(c, c->jobs->audit_anchor(c->store, 1000, &again, &c->err)); /* too soon */
    assert_int_equal(again.number, 2);
    advance(c, 1000);
    ok(c, c->jobs->audit_anchor(c->store, 1000, &again, &c->err));
    assert_int_equal(again.number, 3);
    ok(c, c->jobs->audit_verify(c->store, str_from(head.hash), c->arena, &report, &c->err));
    assert_true(report.sound);
    assert_int_equal(report.anchors, 3);
    ok(c, c->jobs->audit_head(c->store, &head, &c->err));
    assert_string_equal(again.hash, head.hash);
    ok(c, c->jobs->audit_verify(c->store, unknown, c->arena, &report, &c->err));
    assert_false(report.sound);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(a_failure_is_retried_with_backoff_and_dies_at_the_limit),
    CONF_TEST(dead_jobs_group_come_back_or_go),
    CONF_TEST(snooze_and_release_burn_no_attempt),
    CONF_TEST(a_job_that_kills_its_workers_dies),
    CONF_TEST(deadlines_end_what_comes_too_late),
    CONF_TEST(cancelling_stops_what_waits_and_asks_what_runs),
    CONF_TEST(finished_steps_are_kept_for_the_next_attempt),
    CONF_TEST(a_job_waits_for_a_signal_or_a_time),
    CONF_TEST(a_signal_that_came_first_is_kept),
    CONF_TEST(an_execution_leaves_one_row_one_event_and_a_chain),
    CONF_TEST(an_event_that_nobody_passes_on_is_kept_for_a_week),
    CONF_TEST(the_audit_outlives_its_rows),
    CONF_TEST(an_anchor_names_what_was_executed),
    CONF_TEST(leases_and_executions_are_counted),
};

CONF_GROUP(jobs_end, tests);
