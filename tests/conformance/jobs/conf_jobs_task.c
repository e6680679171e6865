/* Tasks, agents and their scopes, schedules that fire once. */
#include "conformance/harness_jobs.h"

static void agent(struct conf *c, const char *name, const char *scopes, bool disabled) {
    struct agent in = {str_from(name), str_from(scopes), disabled, 0};
    ok(c, c->jobs->agent_put(c->store, &in, &c->err));
}

static struct task task_named(const char *name) {
    return (struct task){.name = str_from(name), .type = STR("pipeline"), .spec = STR("{\"steps\":[]}")};
}

static struct put_answer put_task(struct conf *c, struct task in) {
    struct put_answer answer;
    ok(c, c->jobs->task_put(c->store, &in, c->arena, &answer, &c->err));
    return answer;
}

static void a_task_fills_in_what_its_jobs_leave_out(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct task in = task_named("report");
    in.params = STR("{\"n\":1}");
    in.queue = STR("slow");
    in.priority = 7;
    in.max_attempts = 4;
    in.timeout_ms = 30000;
    in.flags = JOB_AUDIT;
    assert_int_equal(put_task(c, in).version, 1);
    int64_t id = add(c, (struct job_new){.task = STR("report")});
    struct job_row row = job_row_of(c, id);
    assert_string_equal(row.job.type.ptr, "pipeline");
    assert_string_equal(row.job.payload.ptr, "{\"n\":1}");
    assert_string_equal(row.job.queue.ptr, "slow");
    assert_int_equal(row.job.priority, 7);
    assert_int_equal(row.job.max_attempts, 4);
    assert_int_equal(row.job.timeout_ms, 30000);
    assert_int_equal(row.job.flags, JOB_AUDIT);
    id = add(c, (struct job_new){.task = STR("report"),
                                 .payload = STR("{\"n\":2}"),
                                 .priority = -1,
                                 .queue = STR("fast"),
                                 .max_attempts = 2,
                                 .flags = JOB_EVENTS});
    row = job_row_of(c, id);
    assert_string_equal(row.job.payload.ptr, "{\"n\":2}");
    assert_string_equal(row.job.queue.ptr, "fast");
    assert_int_equal(row.job.priority, -1);
    assert_int_equal(row.job.flags, JOB_AUDIT | JOB_EVENTS);
    int64_t none = 0;
    assert_int_equal(try_add(c, (struct job_new){.task = STR("unknown")}, &none), ANSWER_NOT_FOUND);
    assert_int_equal(none, 0);
}

static void a_task_has_versions_and_can_be_listed_and_removed(void **state) {
    struct conf *c = *state;
    struct task in = task_named("b");
    assert_int_equal(put_task(c, in).version, 1);
    in.priority = 3;
    in.version = 1;
    assert_int_equal(put_task(c, in).version, 2);
    struct put_answer old = put_task(c, in);
    assert_int_equal(old.answer, ANSWER_CONFLICT);
    assert_int_equal(old.version, 2);
    put_task(c, task_named("a"));
    put_task(c, task_named("c"));
    struct task_list list;
    ok(c, c->jobs->tasks(c->store, ABSENT, STR("a"), 10, c->arena, &list, &c->err));
    assert_int_equal(list.count, 2);
    assert_string_equal(list.tasks[0].name.ptr, "b");
    assert_int_equal(list.tasks[0].priority, 3);
    assert_string_equal(list.tasks[0].spec.ptr, "{\"steps\":[]}");
    assert_string_equal(list.tasks[0].scopes.ptr, "[]");
    ok(c, c->jobs->tasks(c->store, STR("c"), ABSENT, 10, c->arena, &list, &c->err));
    assert_int_equal(list.count, 1);
    ok(c, c->jobs->task_remove(c->store, STR("c"), &c->err));
    expect(c, PAWL_NOT_FOUND, c->jobs->task_remove(c->store, STR("c"), &c->err));
}

/* covers: J48 B4.17 */
static void missing_scopes_are_refused_and_recorded(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct task in = task_named("t");
    in.agent = STR("bot");
    in.scopes = STR("[\"files.read\",\"mail.send\"]");
    assert_int_equal(put_task(c, in).answer, ANSWER_NOT_FOUND);
    agent(c, "bot", "[\"files.read\"]", false);
    struct put_answer refused = put_task(c, in);
    assert_int_equal(refused.answer, ANSWER_REFUSED);
    assert_string_equal(refused.missing.ptr, "mail.send");
    agent(c, "bot", "[\"mail.send\",\"files.read\"]", false);
    assert_int_equal(put_task(c, in).answer, ANSWER_APPLIED);
    int64_t id = add(c, (struct job_new){.task = STR("t")});
    agent(c, "bot", "[\"mail.send\",\"files.read\"]", true);
    int64_t none = 0;
    assert_int_equal(try_add(c, (struct job_new){.task = STR("t")}, &none), ANSWER_REFUSED);
    /* What was enqueued before is refused by the worker, and dies with the reason. */
    struct job_list got = take(c, 1, 1);
    struct finish_item item = finish_of(&got.jobs[0], JOB_FAIL);
    item.error_class = CLASS_PERMANENT;
    item.refused = true;
    item.error = STR("agent bot");
    assert_int_equal(job_finish(c, 1, item).result, JOB_RESULT_DEAD);
    assert_int_equal(job_row_of(c, id).reason, JOB_DEAD_REFUSED);
    struct refusal_list list;
    ok(c, c->jobs->refusals(c->store, 10, c->arena, &list, &c->err));
    assert_int_equal(list.count, 3);
    assert_int_equal(list.refusals[0].job_id, id);
    assert_string_equal(list.refusals[0].agent.ptr, "bot");
    assert_string_equal(list.refusals[1].missing.ptr, "agent bot");
    assert_string_equal(list.refusals[2].missing.ptr, "mail.send");
    assert_string_equal(list.refusals[2].task.ptr, "t");
    struct refusal asked = {.agent = STR("bot"), .missing = STR("operation:job.cancel")};
    ok(c, c->jobs->refusal_add(c->store, &asked, &c->err));
    ok(c, c->jobs->refusals(c->store, 10, c->arena, &list, &c->err));
    assert_int_equal(list.count, 4);
    assert_string_equal(list.refusals[0].agent.ptr, "bot");
    assert_string_equal(list.refusals[0].missing.ptr, "operation:job.cancel");
    assert_true(str_absent(list.refusals[0].task) && list.refusals[0].job_id == 0);
    assert_true(list.refusals[0].made_ms > 0);
    struct agent_list agents;
    ok(c, c->jobs->agents(c->store, c->arena, &agents, &c->err));
    assert_int_equal(agents.count, 1);
    assert_true(agents.agents[0].disabled);
    struct agent wrong = {STR("x"), STR("[1]"), false, 0};
    expect(c, PAWL_INVALID, c->jobs->agent_put(c->store, &wrong, &c->err));
}

/* covers: J48 */
static void a_job_carries_its_agent(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    agent(c, "bot", "[\"files.read\"]", false);
    agent(c, "other", "[\"*\"]", false);
    struct task own = task_named("own"), nobodys = task_named("nobodys"), theirs = task_named("theirs");
    own.agent = STR("bot");
    own.scopes = STR("[\"files.read\"]");
    nobodys.scopes = STR("[\"files.read\",\"mail.send\"]");
    theirs.agent = STR("other");
    assert_int_equal(put_task(c, own).answer, ANSWER_APPLIED);
    assert_int_equal(put_task(c, nobodys).answer, ANSWER_APPLIED);
    assert_int_equal(put_task(c, theirs).answer, ANSWER_APPLIED);
    /* Its task's, when nobody's work enqueues it; the one whose work does, whatever the task. */
    int64_t id = add(c, (struct job_new){.task = STR("own")}), none = 0;
    assert_string_equal(job_row_of(c, id).job.agent.ptr, "bot");
    assert_true(str_absent(job_row_of(c, add(c, job_typed("plain"))).job.agent));
    assert_int_equal(try_add(c, (struct job_new){.task = STR("nobodys"), .agent = STR("bot")}, &none),
                     ANSWER_REFUSED);
    assert_int_equal(try_add(c, (struct job_new){.task = STR("theirs"), .agent = STR("bot")}, &none),
                     ANSWER_REFUSED);
    struct refusal_list list;
    ok(c, c->jobs->refusals(c->store, 10, c->arena, &list, &c->err));
    assert_int_equal(list.count, 2);
    assert_string_equal(list.refusals[0].agent.ptr, "bot");
    assert_string_equal(list.refusals[0].missing.ptr, "agent other");
    assert_string_equal(list.refusals[1].missing.ptr, "mail.send");
    agent(c, "bot", "[\"files.read\",\"mail.send\"]", false);
    id = add(c, (struct job_new){.task = STR("nobodys"), .agent = STR("bot")});
    assert_string_equal(job_row_of(c, id).job.agent.ptr, "bot");
    /* Through a claim, a failure, death and a redrive. */
    struct job_new plain = job_typed("later");
    plain.agent = STR("bot");
    plain.queue = STR("q");
    plain.delay_ms = 1000;
    id = add(c, plain);
    advance(c, 1000);
    struct jobs_claim in = job_claim_of(1, 1);
    in.queue = STR("q");
    struct job_list got = take_with(c, in);
    assert_string_equal(got.jobs[0].agent.ptr, "bot");
    struct finish_item item = finish_of(&got.jobs[0], JOB_FAIL);
    item.error_class = CLASS_PERMANENT;
    item.refused = true;
    item.error = STR("no");
    assert_int_equal(job_finish(c, 1, item).result, JOB_RESULT_DEAD);
    ok(c, c->jobs->refusals(c->store, 1, c->arena, &list, &c->err));
    assert_string_equal(list.refusals[0].agent.ptr, "bot");
    assert_int_equal(list.refusals[0].job_id, id);
    assert_int_equal(job_redrive(c, id, false), ANSWER_APPLIED);
    assert_string_equal(take_with(c, in).jobs[0].agent.ptr, "bot");
}

/* What was refused may be asked again under the same request key. */
static void a_request_that_stored_nothing_is_not_used_up(void **state) {
    struct conf *c = *state;
    struct task in = task_named("t");
    agent(c, "bot", "[]", false);
    in.agent = STR("bot");
    assert_int_equal(put_task(c, in).answer, ANSWER_APPLIED);
    agent(c, "bot", "[]", true);
    struct job_new job = {.task = STR("t")};
    struct jobs_enqueue put = {.jobs = &job, .count = 1, .request = request_id(1)};
    struct enqueue_result result;
    ok(c, c->jobs->enqueue(c->store, &put, c->arena, &result, &c->err));
    assert_int_equal(result.answers[0], ANSWER_REFUSED);
    agent(c, "bot", "[]", false);
    ok(c, c->jobs->enqueue(c->store, &put, c->arena, &result, &c->err));
    assert_int_equal(result.answers[0], ANSWER_APPLIED);
    ok(c, c->jobs->enqueue(c->store, &put, c->arena, &result, &c->err));
    assert_int_equal(result.answers[0], ANSWER_DUPLICATE);
}

static struct job_schedule schedule_named(const char *name, enum overlap overlap, int64_t next_ms) {
    return (struct job_schedule){.name = str_from(name),
                                 .task = STR("t"),
                                 .kind = JOB_SCHEDULE_CRON,
                                 .expr = STR("* * * * *"),
                                 .missed = MISSED_SKIP,
                                 .overlap = overlap,
                                 .next_ms = next_ms};
}

static struct put_answer put_schedule(struct conf *c, struct job_schedule in) {
    struct put_answer answer;
    ok(c, c->jobs->schedule_put(c->store, &in, &answer, &c->err));
    return answer;
}

static struct fire_result fire(struct conf *c, const char *name, int64_t version, int64_t instant_ms,
                               int64_t next_ms) {
    struct fire_result result;
    struct schedule_fire in = {.name = str_from(name),
                               .version = version,
                               .instants = &instant_ms,
                               .due_ms = &instant_ms,
                               .count = 1,
                               .through_ms = instant_ms,
                               .next_ms = next_ms};
    ok(c, c->jobs->schedule_fire(c->store, &in, c->arena, &result, &c->err));
    return result;
}

static struct job_schedule_list schedules_due(struct conf *c) {
    struct job_schedule_list list;
    ok(c, c->jobs->schedules(c->store, &(struct schedule_filter){.due = true, .limit = 10}, c->arena, &list,
                             &c->err));
    return list;
}

static void a_schedule_fires_once_per_instant(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t t = c->now_ms;
    assert_int_equal(put_schedule(c, schedule_named("s", OVERLAP_ALLOW, t)).answer, ANSWER_NOT_FOUND);
    put_task(c, task_named("t"));
    struct job_schedule in = schedule_named("s", OVERLAP_ALLOW, t + 60000);
    in.params = STR("{\"who\":1}");
    assert_int_equal(put_schedule(c, in).version, 1);
    expect(c, PAWL_CONFLICT, c->jobs->task_remove(c->store, STR("t"), &c->err));
    assert_int_equal(schedules_due(c).count, 0);
    advance(c, 60000);
    struct job_schedule_list due = schedules_due(c);
    assert_int_equal(due.count, 1);
    assert_int_equal(due.now_ms, c->now_ms);
    assert_int_equal(fire(c, "s", 2, t + 60000, t + 120000).answer, ANSWER_CONFLICT);
    assert_int_equal(fire(c, "nope", 1, t + 60000, t + 120000).answer, ANSWER_NOT_FOUND);
    struct fire_result first = fire(c, "s", 1, t + 60000, t + 120000);
    assert_int_equal(first.answer, ANSWER_APPLIED);
    assert_int_equal(first.answers[0], ANSWER_APPLIED);
    struct fire_result second = fire(c, "s", 1, t + 60000, t + 120000);
    assert_int_equal(second.answers[0], ANSWER_DUPLICATE);
    assert_int_equal(schedules_due(c).count, 0);
    struct job_row row = job_row_of(c, first.ids[0]);
    assert_string_equal(row.job.schedule.ptr, "s");
    assert_int_equal(row.job.instant_ms, t + 60000);
    assert_string_equal(row.job.payload.ptr, "{\"who\":1}");
    assert_string_equal(row.job.task.ptr, "t");
    assert_int_equal(job_counted(c, "default").put, 1);
    struct job_schedule_list all;
    ok(c, c->jobs->schedules(c->store, &(struct schedule_filter){.limit = 10}, c->arena, &all, &c->err));
    assert_int_equal(all.schedules[0].last_ms, t + 60000);
    assert_int_equal(all.schedules[0].next_ms, t + 120000);
    /* A late caller with old instants cannot move it back; a removed fire row does not let it fire again. */
    (void)fire(c, "s", 1, t + 50000, t + 60000);
    ok(c, c->jobs->schedules(c->store, &(struct schedule_filter){.limit = 10}, c->arena, &all, &c->err));
    assert_int_equal(all.schedules[0].next_ms, t + 120000);
    advance(c, INT64_C(700000000));
    struct jobs_maintain_result swept;
    ok(c, c->jobs->maintain(c->store, 100, &swept, &c->err));
    assert_int_equal(swept.fires_removed, 1);
    assert_int_equal(fire(c, "s", 1, t + 60000, t + 120000).answers[0], ANSWER_DUPLICATE);
    in.paused = true;
    assert_int_equal(put_schedule(c, in).version, 2);
    assert_int_equal(schedules_due(c).count, 0);
    assert_int_equal(fire(c, "s", 1, t + 120000, t + 180000).answer, ANSWER_CONFLICT); /* as it was before */
    ok(c, c->jobs->schedule_remove(c->store, STR("s"), &c->err));
    expect(c, PAWL_NOT_FOUND, c->jobs->schedule_remove(c->store, STR("s"), &c->err));
}

/* A worker computed instants, and the database went back to before the last ones. */
static void a_fire_of_a_later_state_is_a_conflict(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    put_task(c, task_named("t"));
    int64_t t = c->now_ms, instants[] = {t + 2};
    put_schedule(c, schedule_named("s", OVERLAP_ALLOW, t + 1));
    advance(c, 10);
    struct schedule_fire in = {.name = STR("s"),
                               .version = 1,
                               .after_ms = t + 1,
                               .instants = instants,
                               .due_ms = instants,
                               .count = 1,
                               .through_ms = t + 2};
    struct fire_result result;
    ok(c, c->jobs->schedule_fire(c->store, &in, c->arena, &result, &c->err));
    assert_int_equal(result.answer, ANSWER_CONFLICT);
    assert_int_equal(take(c, 1, 10).count, 0);
    assert_int_equal(schedules_due(c).schedules[0].next_ms, t + 1);
    assert_int_equal(fire(c, "s", 1, t + 1, t + 2).answer, ANSWER_APPLIED);
    ok(c, c->jobs->schedule_fire(c->store, &in, c->arena, &result, &c->err));
    assert_int_equal(result.answer, ANSWER_APPLIED);
    assert_int_equal(take(c, 1, 10).count, 2);
}

static void overlap_skips_or_queues(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t t = c->now_ms;
    put_task(c, task_named("t"));
    put_schedule(c, schedule_named("skip", OVERLAP_SKIP, t + 1));
    put_schedule(c, schedule_named("queue", OVERLAP_QUEUE, t + 1));
    advance(c, 5);
    assert_int_equal(fire(c, "skip", 1, t + 1, t + 2).answers[0], ANSWER_APPLIED);
    assert_int_equal(fire(c, "skip", 1, t + 2, t + 3).answers[0], ANSWER_CONFLICT);
    struct job_list got = take(c, 1, 10);
    assert_int_equal(got.count, 1);
    assert_int_equal(fire(c, "skip", 1, t + 3, t + 4).answers[0], ANSWER_CONFLICT); /* it runs */
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    assert_int_equal(fire(c, "skip", 1, t + 4, t + 5).answers[0], ANSWER_APPLIED);
    got = take(c, 1, 10);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    int64_t instants[3] = {t + 1, t + 2, t + 3};
    struct schedule_fire in = {.name = STR("queue"),
                               .version = 1,
                               .instants = instants,
                               .due_ms = instants,
                               .count = 3,
                               .through_ms = t + 3,
                               .next_ms = 0};
    struct fire_result result;
    ok(c, c->jobs->schedule_fire(c->store, &in, c->arena, &result, &c->err));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(result.answers[i], ANSWER_APPLIED);
        got = take(c, 1, 10);
        assert_int_equal(got.count, 1); /* one after the other */
        assert_int_equal(got.jobs[0].id, result.ids[i]);
        assert_int_equal(take(c, 1, 10).count, 0);
        assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    }
}

static void retention_is_the_tasks(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct task in = task_named("t");
    in.flags = JOB_AUDIT;
    in.retention_ms = 1000;
    put_task(c, in);
    int64_t id = add(c, (struct job_new){.task = STR("t")});
    struct job_list got = take(c, 1, 1);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    struct jobs_maintain_result swept;
    advance(c, 1000);
    ok(c, c->jobs->maintain(c->store, 100, &swept, &c->err));
    assert_int_equal(swept.runs_removed, 0);
    struct task_run_list list;
    struct run_filter filter = {.task = STR("t"), .outcome = RUN_SUCCEEDED, .limit = 10};
    ok(c, c->jobs->runs(c->store, &filter, c->arena, &list, &c->err));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.runs[0].job_id, id);
    advance(c, 1);
    ok(c, c->jobs->maintain(c->store, 100, &swept, &c->err));
    assert_int_equal(swept.runs_removed, 1);
}

/* A filter that hardly anything fits looks at so many rows and then says where it stopped. */
static void executions_are_listed_in_bounded_pages(void **state) {
    struct conf *c = *state;
    int64_t ids[8];
    join_jobs(c, 1);
    for (int i = 0; i < 8; i++) {
        ids[i] = add(c, (struct job_new){.type = STR("x"), .payload = STR("{}"), .flags = JOB_AUDIT});
        struct job_list got = take(c, 1, 1);
        assert_int_equal(got.count, 1);
        if (i == 1)
            assert_int_equal(job_fail(c, 1, &got.jobs[0], 3600000).answer, ANSWER_APPLIED);
        else
            assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    }
    struct run_filter filter = {.outcome = RUN_FAILED, .limit = 10, .scan_max = 3};
    struct task_run_list list;
    int pages = 0;
    size_t found = 0;
    do {
        ok(c, c->jobs->runs(c->store, &filter, c->arena, &list, &c->err));
        for (size_t i = 0; i < list.count; i++)
            assert_int_equal(list.runs[i].job_id, ids[1]);
        found += list.count;
        assert_true(list.next_id == 0 || filter.before_id == 0 || list.next_id < filter.before_id);
        filter.before_id = list.next_id;
    } while (++pages < 10 && list.next_id != 0);
    assert_int_equal(pages, 3);
    assert_int_equal(found, 1);

    /* Without a condition on the rows a page is never short; since is one. */
    filter = (struct run_filter){.limit = 5, .scan_max = 3};
    ok(c, c->jobs->runs(c->store, &filter, c->arena, &list, &c->err));
    assert_int_equal(list.count, 5);
    assert_int_equal(list.next_id, list.runs[4].id);
    filter = (struct run_filter){.since_ms = 1, .limit = 5, .scan_max = 3};
    ok(c, c->jobs->runs(c->store, &filter, c->arena, &list, &c->err));
    assert_int_equal(list.count, 3);
    assert_int_equal(list.next_id, list.runs[2].id);
    /* The rows of other jobs are not looked at. */
    filter = (struct run_filter){.job_id = ids[0], .outcome = RUN_FAILED, .limit = 5, .scan_max = 3};
    ok(c, c->jobs->runs(c->store, &filter, c->arena, &list, &c->err));
    assert_int_equal(list.count, 0);
    assert_int_equal(list.next_id, 0);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(a_task_fills_in_what_its_jobs_leave_out),
    CONF_TEST(a_task_has_versions_and_can_be_listed_and_removed),
    CONF_TEST(missing_scopes_are_refused_and_recorded),
    CONF_TEST(a_job_carries_its_agent),
    CONF_TEST(a_request_that_stored_nothing_is_not_used_up),
    CONF_TEST(a_schedule_fires_once_per_instant),
    CONF_TEST(a_fire_of_a_later_state_is_a_conflict),
    CONF_TEST(overlap_skips_or_queues),
    CONF_TEST(retention_is_the_tasks),
    CONF_TEST(executions_are_listed_in_bounded_pages),
};

CONF_GROUP(jobs_task, tests);
