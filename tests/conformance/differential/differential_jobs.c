/* The same random operations of pooled work on SQLite and on PostgreSQL: the same answers, the same
 * state. */
#include <inttypes.h>

#include "base/str.h"
#include "conformance/differential/pair.h"
#include "support/check.h"

enum { SIDES = PAIR_SIDES, INSTANCES = PAIR_INSTANCES, JOBS = 4000, GRANTS = 24, GRANT_ITEMS = 8 };

struct grant {
    int64_t token[SIDES];
    int instance;
    size_t count;
    int jobs[GRANT_ITEMS]; /* by number */
};

struct world {
    struct pair pair;
    const struct store_jobs_ops *ops[SIDES];
    int64_t ids[SIDES][JOBS];
    int made;
    struct grant grants[GRANTS];
    int granted;
};

static int pick(struct world *w, int below) { return pair_pick(&w->pair, below); }

static pawl_str name(struct world *w, const char *kind, int n) { return pair_name(&w->pair, kind, n); }

static pawl_uuid instance_of(const struct world *w, int slot) { return pair_instance(&w->pair, slot); }

static int number_of(const struct world *w, int s, int64_t id) {
    for (int i = w->made; i-- > 0;)
        if (w->ids[s][i] == id)
            return i;
    return -1;
}

static void say_text(struct world *w, int s, const char *what, pawl_str text) {
    pair_say_text(&w->pair, s, what, text);
}

static void say_job(struct world *w, int s, const struct job *j) {
    buf_printf(&w->pair.said[s],
               "\n job %d run=%d lease=%" PRId64 " p=%d a=%d/%d f=%d put=%" PRId64 " due=%" PRId64,
               number_of(w, s, j->id), j->token > 0, j->lease_until_ms, j->priority, j->attempts,
               j->max_attempts, j->flags, j->put_ms, j->due_ms);
    buf_printf(&w->pair.said[s],
               " deadline=%" PRId64 " timeout=%" PRId64 " instant=%" PRId64 " cancel=%" PRId64,
               j->deadline_ms, j->timeout_ms, j->instant_ms, j->cancel_ms);
    const pawl_str texts[] = {j->type, j->queue,      j->payload,  j->task,
                              j->key,  j->unique_key, j->schedule, j->progress};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        say_text(w, s, "t", texts[i]);
}

static void note_grant(struct world *w, int instance, const struct job_list lists[static SIDES]) {
    if (lists[0].count == 0 || lists[0].count != lists[1].count)
        return;
    struct grant *grant = &w->grants[w->granted++ % GRANTS];
    *grant = (struct grant){.instance = instance};
    for (int s = 0; s < SIDES; s++)
        grant->token[s] = lists[s].jobs[0].token;
    for (size_t i = 0; i < lists[0].count && i < GRANT_ITEMS; i++)
        grant->jobs[grant->count++] = number_of(w, 0, lists[0].jobs[i].id);
}

static bool said_ok(struct world *w, int s, pawl_status status, const pawl_error *err) {
    return pair_ok(&w->pair, s, status, err);
}

static void enqueue(struct world *w) {
    struct job_new jobs[4];
    size_t count = (size_t)pick(w, 4) + 1;
    if (w->made + 4 > JOBS)
        return;
    for (size_t i = 0; i < count; i++) {
        jobs[i] = (struct job_new){.priority = pick(w, 5) - 2, .flags = pick(w, 4)};
        if (pick(w, 6) == 0)
            jobs[i].task = name(w, "task", pick(w, 3));
        else
            jobs[i].type = name(w, "type", pick(w, 3));
        if (pick(w, 2) == 0)
            jobs[i].key = name(w, pick(w, 2) == 0 ? "a:" : "b:", pick(w, 4));
        if (pick(w, 5) == 0)
            jobs[i].unique_key = name(w, "u", pick(w, 5));
        if (pick(w, 3) == 0)
            jobs[i].delay_ms = pick(w, 5000);
        if (pick(w, 6) == 0)
            jobs[i].deadline_ms = w->pair.now_ms + pick(w, 9000) + 1;
        if (pick(w, 4) == 0)
            jobs[i].queue = STR("other");
        jobs[i].max_attempts = pick(w, 4);
    }
    struct enqueue_result results[SIDES];
    for (int s = 0; s < SIDES; s++) {
        pawl_error err;
        struct jobs_enqueue in = {.jobs = jobs, .count = count};
        if (!said_ok(w, s, w->ops[s]->enqueue(w->pair.store[s], &in, w->pair.arena, &results[s], &err), &err))
            return;
    }
    for (size_t i = 0; i < count; i++) {
        if (results[0].answers[i] == ANSWER_APPLIED && results[1].answers[i] == ANSWER_APPLIED) {
            for (int s = 0; s < SIDES; s++)
                w->ids[s][w->made] = results[s].ids[i];
            w->made++;
        }
        for (int s = 0; s < SIDES; s++)
            buf_printf(&w->pair.said[s], " %d:%d", (int)results[s].answers[i],
                       number_of(w, s, results[s].ids[i]));
    }
}

static struct jobs_claim claim_input(struct world *w, int instance, int least) {
    return (struct jobs_claim){.instance = instance_of(w, instance),
                               .queue = pick(w, 4) == 0 ? STR("other") : STR("default"),
                               .max = pick(w, 6) + least,
                               .lease_ms = 500 + pick(w, 4000)};
}

static void claim(struct world *w) {
    int instance = pick(w, INSTANCES);
    struct jobs_claim in = claim_input(w, instance, 1);
    struct job_list lists[SIDES] = {{NULL, 0}};
    for (int s = 0; s < SIDES; s++) {
        pawl_error err;
        if (said_ok(w, s, w->ops[s]->claim(w->pair.store[s], &in, w->pair.arena, &lists[s], &err), &err))
            for (size_t i = 0; i < lists[s].count; i++)
                say_job(w, s, &lists[s].jobs[i]);
    }
    note_grant(w, instance, lists);
}

static struct finish_item finish_input(struct world *w) {
    static const char *const errors[] = {"it broke", "no user 17", "timeout"};
    struct finish_item item = {.outcome = (enum job_outcome)(pick(w, 3) == 0 ? pick(w, 5) + 1 : JOB_COMPLETE),
                               .error_class = pick(w, 8) == 0 ? CLASS_PERMANENT : CLASS_RETRYABLE,
                               .refused = pick(w, 20) == 0,
                               .delay_ms = pick(w, 2) == 0 ? 0 : pick(w, 3000),
                               .duration_ms = pick(w, 500)};
    if (item.outcome == JOB_COMPLETE && pick(w, 2) == 0)
        item.output = STR("{\"ok\":true}");
    if (item.outcome == JOB_FAIL)
        item.error = str_from(errors[pick(w, 3)]);
    if (item.outcome == JOB_WAIT) {
        item.wait_key = name(w, "w", pick(w, 3));
        item.wait_step = name(w, "s", pick(w, 3));
        item.delay_ms = pick(w, 2) == 0 ? -1 : pick(w, 3000);
    }
    return item;
}

static void finish(struct world *w) {
    struct finish_item items[GRANT_ITEMS];
    size_t count = 0;
    if (w->granted == 0)
        return;
    const struct grant *grant = &w->grants[pick(w, w->granted < GRANTS ? w->granted : GRANTS)];
    int instance = pick(w, 12) == 0 ? pick(w, INSTANCES) : grant->instance;
    int numbers[GRANT_ITEMS];
    for (size_t i = 0; i < grant->count; i++) {
        if (pick(w, 4) == 0)
            continue;
        numbers[count] = pick(w, 15) == 0 ? pick(w, w->made) : grant->jobs[i];
        items[count++] = finish_input(w);
    }
    struct jobs_finish in = {.instance = instance_of(w, instance), .items = items, .count = count};
    if (pick(w, 2) == 0)
        in.claim = claim_input(w, instance, 1);
    struct finish_result results[SIDES] = {{0}};
    for (int s = 0; s < SIDES; s++) {
        pawl_error err;
        for (size_t i = 0; i < count; i++)
            items[i].ref = (struct job_ref){grant->token[s], w->ids[s][numbers[i]]};
        if (!said_ok(w, s, w->ops[s]->finish(w->pair.store[s], &in, w->pair.arena, &results[s], &err), &err))
            continue;
        for (size_t i = 0; i < count; i++)
            buf_printf(&w->pair.said[s], " %d/%d", (int)results[s].answers[i], (int)results[s].results[i]);
        for (size_t i = 0; i < results[s].jobs.count; i++)
            say_job(w, s, &results[s].jobs.jobs[i]);
    }
    note_grant(w, instance, (struct job_list[SIDES]){results[0].jobs, results[1].jobs});
}

static void hold(struct world *w) {
    if (w->granted == 0)
        return;
    const struct grant *grant = &w->grants[pick(w, w->granted < GRANTS ? w->granted : GRANTS)];
    bool whole = pick(w, 4) == 0, renew = pick(w, 2) == 0;
    int job = grant->jobs[pick(w, (int)grant->count)];
    pawl_str progress = pick(w, 2) == 0 ? STR("{\"at\":1}") : (pawl_str){NULL, 0};
    struct job_step step = {.step = name(w, "s", pick(w, 3)),
                            .index = pick(w, 2),
                            .state = (enum job_step_state)(pick(w, 4) + 1),
                            .attempt = 1,
                            .duration_ms = pick(w, 50),
                            .output = STR("1")};
    int64_t lease_ms = 500 + pick(w, 4000);
    for (int s = 0; s < SIDES; s++) {
        pawl_error err;
        struct job_ref ref = {grant->token[s], whole && renew ? 0 : w->ids[s][job]};
        struct renew_item item = {ref, progress};
        struct renew_result renewed;
        struct job_answers answers;
        if (renew) {
            struct jobs_renew in = {instance_of(w, grant->instance), &item, 1, lease_ms};
            if (said_ok(w, s, w->ops[s]->renew(w->pair.store[s], &in, w->pair.arena, &renewed, &err), &err))
                buf_printf(&w->pair.said[s], " %d/%d", (int)renewed.answers[0], renewed.cancel[0]);
        } else {
            struct steps_put in = {instance_of(w, grant->instance), ref, &step, 1};
            if (said_ok(w, s, w->ops[s]->steps_put(w->pair.store[s], &in, w->pair.arena, &answers, &err),
                        &err))
                buf_printf(&w->pair.said[s], " %d", (int)answers.answers[0]);
        }
    }
}

static void people(struct world *w) {
    int deed = pick(w, 3);
    if (w->made == 0)
        return;
    int numbers[3] = {pick(w, w->made), pick(w, w->made), pick(w, w->made)};
    struct job_wake wake = {name(w, "w", pick(w, 3)), STR("{\"from\":\"outside\"}"), pick(w, 2) * 4000};
    for (int s = 0; s < SIDES; s++) {
        pawl_error err;
        struct job_answers answers = {NULL, 0};
        struct wake_result woken;
        int64_t ids[3];
        for (int i = 0; i < 3; i++)
            ids[i] = w->ids[s][numbers[i]];
        if (deed == 0)
            (void)said_ok(w, s, w->ops[s]->cancel(w->pair.store[s], ids, 3, w->pair.arena, &answers, &err),
                          &err);
        else if (deed == 1)
            (void)said_ok(w, s,
                          w->ops[s]->redrive(w->pair.store[s], ids, 3, numbers[0] % 3 == 0, w->pair.arena,
                                             &answers, &err),
                          &err);
        else if (said_ok(w, s, w->ops[s]->wake(w->pair.store[s], &wake, &woken, &err), &err))
            buf_printf(&w->pair.said[s], " %" PRId64 "/%d", woken.woken, woken.kept);
        for (size_t i = 0; i < answers.count; i++)
            buf_printf(&w->pair.said[s], " %d", (int)answers.answers[i]);
    }
}

static void instances(struct world *w) { pair_instances(&w->pair, KIND_BIT_JOBS); }

static void rules(struct world *w) {
    int deed = pick(w, 4);
    struct job_limit limit = {pick(w, 3) == 0 ? STR("a:*") : name(w, "b:", pick(w, 4)), pick(w, 3),
                              pick(w, 3), 1000, pick(w, 4) + 1};
    struct agent agent = {name(w, "agent", pick(w, 2)),
                          pick(w, 2) == 0 ? STR("[\"x.*\"]") : STR("[\"x.a\",\"y\"]"), pick(w, 5) == 0, 0};
    struct task task = {.name = name(w, "task", pick(w, 3)),
                        .type = STR("run"),
                        .flags = pick(w, 4),
                        .priority = pick(w, 3),
                        .scopes = pick(w, 2) == 0 ? STR("[\"x.b\"]") : (pawl_str){NULL, 0},
                        .version = pick(w, 3)};
    if (pick(w, 2) == 0)
        task.agent = name(w, "agent", pick(w, 2));
    struct job_schedule schedule = {.name = name(w, "sched", pick(w, 2)),
                                    .task = name(w, "task", pick(w, 3)),
                                    .kind = JOB_SCHEDULE_CRON,
                                    .expr = STR("* * * * *"),
                                    .missed = MISSED_ONE,
                                    .overlap = (enum overlap)(pick(w, 3) + 1),
                                    .next_ms = w->pair.now_ms + pick(w, 2000)};
    for (int s = 0; s < SIDES; s++) {
        pawl_error err;
        struct put_answer answer = {0};
        if (deed == 0)
            (void)said_ok(w, s, w->ops[s]->limit_set(w->pair.store[s], &limit, &err), &err);
        else if (deed == 1)
            (void)said_ok(w, s, w->ops[s]->agent_put(w->pair.store[s], &agent, &err), &err);
        else if (deed == 2)
            (void)said_ok(w, s, w->ops[s]->task_put(w->pair.store[s], &task, w->pair.arena, &answer, &err),
                          &err);
        else
            (void)said_ok(w, s, w->ops[s]->schedule_put(w->pair.store[s], &schedule, &answer, &err), &err);
        buf_printf(&w->pair.said[s], " %d v%" PRId64, (int)answer.answer, answer.version);
        say_text(w, s, "missing", answer.missing);
    }
}

static void fire(struct world *w) {
    int64_t first = w->pair.now_ms - pick(w, 2000);
    int64_t instants[2] = {first, first + 1 + pick(w, 100)};
    struct schedule_fire in = {.name = name(w, "sched", pick(w, 2)),
                               .version = pick(w, 4) + 1,
                               .after_ms = pick(w, 4) == 0 ? first - 1 : 0,
                               .instants = instants,
                               .due_ms = instants,
                               .count = 2,
                               .through_ms = instants[1],
                               .next_ms = instants[1] + 60000};
    struct fire_result results[SIDES];
    if (w->made + 2 > JOBS)
        return;
    for (int s = 0; s < SIDES; s++) {
        pawl_error err;
        if (!said_ok(w, s, w->ops[s]->schedule_fire(w->pair.store[s], &in, w->pair.arena, &results[s], &err),
                     &err))
            return;
        buf_printf(&w->pair.said[s], " %d: %d %d", (int)results[s].answer, (int)results[s].answers[0],
                   (int)results[s].answers[1]);
    }
    for (int i = 0; i < 2; i++) {
        if (results[0].ids[i] == 0 || results[1].ids[i] == 0)
            continue;
        for (int s = 0; s < SIDES; s++)
            w->ids[s][w->made] = results[s].ids[i];
        w->made++;
    }
}

static void advance(struct world *w) {
    pair_advance(&w->pair, pick(w, 10) == 0 ? pick(w, 9000) : pick(w, 900));
}

static void say_runs(struct world *w, int s) {
    pawl_error err;
    struct task_run_list runs;
    struct spine_events events;
    struct refusal_list refusals;
    struct audit_report report;
    assert_int_equal(
        w->ops[s]->runs(w->pair.store[s], &(struct run_filter){.limit = 30}, w->pair.arena, &runs, &err),
        PAWL_OK);
    for (size_t i = 0; i < runs.count; i++) {
        const struct task_run *r = &runs.runs[i];
        buf_printf(&w->pair.said[s], "\n run %d a=%d o=%d %d t=%d %" PRId64 "-%" PRId64,
                   number_of(w, s, r->job_id), r->attempt, (int)r->outcome, r->instance.b[15], r->token > 0,
                   r->started_ms, r->finished_ms);
        say_text(w, s, "out", r->output);
        say_text(w, s, "err", r->error);
    }
    assert_int_equal(w->ops[s]->spine_read(w->pair.store[s], 1000, w->pair.arena, &events, &err), PAWL_OK);
    buf_printf(&w->pair.said[s], "\n spine %zu", events.count);
    for (size_t i = events.count > 10 ? events.count - 10 : 0; i < events.count; i++)
        buf_printf(&w->pair.said[s], " %d:%.*s", number_of(w, s, events.events[i].job_id),
                   STR_ARG(events.events[i].event_type));
    assert_int_equal(w->ops[s]->refusals(w->pair.store[s], 20, w->pair.arena, &refusals, &err), PAWL_OK);
    for (size_t i = 0; i < refusals.count; i++)
        say_text(w, s, "refused", refusals.refusals[i].missing);
    assert_int_equal(
        w->ops[s]->audit_verify(w->pair.store[s], (pawl_str){NULL, 0}, w->pair.arena, &report, &err),
        PAWL_OK);
    buf_printf(&w->pair.said[s], "\n audit %" PRId64 " %" PRId64 " %" PRId64 " %d", report.chains,
               report.blocks, report.rows, report.sound);
}

static void say_state(void *world, int s) {
    struct world *w = world;
    pawl_error err;
    struct job_rows rows;
    struct job_counts_list counts;
    struct job_backlog backlog;
    int64_t after = 0;
    do {
        assert_int_equal(w->ops[s]->jobs(w->pair.store[s],
                                         &(struct job_filter){.limit = 500, .after_id = after}, w->pair.arena,
                                         &rows, &err),
                         PAWL_OK);
        for (size_t i = 0; i < rows.count; i++) {
            const struct job_row *row = &rows.rows[i];
            say_job(w, s, &row->job);
            buf_printf(&w->pair.said[s], " state=%d reason=%d died=%" PRId64 " by=%d", (int)row->state,
                       row->reason, row->died_ms, row->instance.b[15]);
            say_text(w, s, "error", row->error);
            say_text(w, s, "wait", row->wait_key);
            say_text(w, s, "print", row->fingerprint);
            after = row->job.id;
        }
    } while (rows.count == 500);
    assert_int_equal(w->ops[s]->counts(w->pair.store[s], w->pair.arena, &counts, &err), PAWL_OK);
    for (size_t i = 0; i < counts.count; i++) {
        pair_say(&w->pair, s, "\n counts");
        say_shape(&w->pair.said[s], &job_counts_shape, &counts.queues[i]);
    }
    assert_int_equal(w->ops[s]->backlog(w->pair.store[s], PAWL_BACKLOG_LOOK, w->pair.arena, &backlog, &err),
                     PAWL_OK);
    buf_printf(&w->pair.said[s], "\n overdue %" PRId64, backlog.overdue);
    for (size_t i = 0; i < backlog.count; i++)
        buf_printf(&w->pair.said[s], " %d:%" PRId64 "+%" PRId64, backlog.priorities[i].priority,
                   backlog.priorities[i].ready, backlog.priorities[i].later);
    say_runs(w, s);
}

static void operation(void *world) {
    static void (*const deeds[])(struct world * w) = {
        enqueue, enqueue, enqueue, claim,   claim,   claim,   finish,    finish, finish, finish,
        hold,    hold,    people,  advance, advance, advance, instances, rules,  fire};
    deeds[pick(world, (int)(sizeof deeds / sizeof deeds[0]))](world);
}

static void begin(void *world) {
    struct world *w = world;
    for (int s = 0; s < SIDES; s++)
        w->ops[s] = w->pair.store[s]->ops->jobs;
}

/* covers: J52 B4.1 B4.3 B4.5 B4.7 B4.10 */
int main(void) {
    static const struct pair_game game = {.name = "differential jobs",
                                          .world_bytes = sizeof(struct world),
                                          .kinds = KIND_BIT_JOBS,
                                          .begin = begin,
                                          .operation = operation,
                                          .say_state = say_state,
                                          .ops = 1000,
                                          .ops_per_world = 1500,
                                          .state_every = 8};
    return pair_main(&game);
}
