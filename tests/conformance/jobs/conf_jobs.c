/* Jobs: enqueued, claimed in order, leased, renewed, lost. */
#include "conformance/harness_jobs.h"

#include "base/limits.h"

/* covers: J01 J02 J03 J04 J07 J61 */
static void a_job_is_granted_once_and_gone_when_done(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id = add(c, (struct job_new){.type = STR("mail"), .payload = STR("{\"to\":1}")});
    assert_int_equal(job_row_of(c, id).state, JOB_READY);
    struct job_list got = take(c, 1, 10);
    assert_int_equal(got.count, 1);
    assert_int_equal(got.jobs[0].id, id);
    assert_true(got.jobs[0].token > 0);
    assert_int_equal(got.jobs[0].lease_until_ms, c->now_ms + JOB_LEASE_MS);
    assert_int_equal(got.jobs[0].attempts, 1);
    assert_int_equal(got.jobs[0].max_attempts, 25);
    assert_string_equal(got.jobs[0].payload.ptr, "{\"to\":1}");
    assert_string_equal(got.jobs[0].queue.ptr, "default");
    assert_int_equal(take(c, 1, 10).count, 0);
    struct job_row row = job_row_of(c, id);
    assert_int_equal(row.state, JOB_RUNNING);
    assert_int_equal(id_number(row.instance), 1);
    assert_int_equal(row.job.lease_until_ms, c->now_ms + JOB_LEASE_MS);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    assert_int_equal(job_row_of(c, id).state, 0);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_DUPLICATE);
    struct job_counts counts = job_counted(c, "default");
    assert_int_equal(counts.put, 1);
    assert_int_equal(counts.done, 1);
    assert_int_equal(counts.ready + counts.running + counts.later + counts.dead, 0);
}

/* covers: B4.10 B4.15 */
static void the_order_is_due_time_and_priority_that_ages(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    add(c, (struct job_new){.type = STR("b")});
    add(c, (struct job_new){.type = STR("c"), .priority = -1});
    add(c, (struct job_new){.type = STR("a"), .priority = 5});
    advance(c, 59999); /* a minute is worth one step */
    add(c, (struct job_new){.type = STR("d"), .priority = 0});
    advance(c, 2);
    add(c, (struct job_new){.type = STR("e")});
    assert_string_equal(types(c, take(c, 1, 10)), "a b d c e");
}

/* covers: B4.2 */
static void what_is_not_due_waits_apart(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t id = add(c, (struct job_new){.type = STR("late"), .delay_ms = 5000});
    add(c, (struct job_new){.type = STR("at"), .due_ms = c->now_ms + 6000});
    add(c, (struct job_new){.type = STR("now"), .due_ms = c->now_ms - 6000});
    assert_int_equal(job_row_of(c, id).state, JOB_LATER);
    assert_int_equal(job_why_of(c, id).cause, JOB_WHY_LATER);
    assert_int_equal(job_why_of(c, id).until_ms, c->now_ms + 5000);
    assert_int_equal(job_counted(c, "default").later, 2);
    assert_string_equal(types(c, take(c, 1, 10)), "now");
    advance(c, 4999);
    assert_int_equal(take(c, 1, 10).count, 0);
    advance(c, 1);
    assert_string_equal(types(c, take(c, 1, 10)), "late");
    advance(c, 1000);
    assert_string_equal(types(c, take(c, 1, 10)), "at");
    assert_int_equal(job_counted(c, "default").later, 0);
}

static void queues_are_apart(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    add(c, (struct job_new){.type = STR("a"), .queue = STR("mail")});
    add(c, (struct job_new){.type = STR("b")});
    struct jobs_claim in = job_claim_of(1, 10);
    in.queue = STR("mail");
    assert_string_equal(types(c, take_with(c, in)), "a");
    assert_string_equal(types(c, take(c, 1, 10)), "b");
    assert_int_equal(job_counted(c, "mail").running, 1);
}

/* covers: J52 J13 J53 B4.5 B4.9 */
static void a_lease_that_ends_gives_the_job_back_and_its_token_is_stale(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    join_jobs(c, 2);
    int64_t id = add(c, job_typed("slow"));
    struct job_list first = take(c, 1, 1);
    advance(c, JOB_LEASE_MS - 1);
    assert_int_equal(take(c, 2, 1).count, 0);
    assert_int_equal(job_why_of(c, id).cause, JOB_WHY_RUNNING);
    advance(c, 1001);
    assert_int_equal(job_why_of(c, id).cause, JOB_WHY_LEASE_OVER);
    struct job_list second = take(c, 2, 1);
    assert_int_equal(second.count, 1);
    assert_int_equal(second.jobs[0].id, id);
    assert_int_equal(second.jobs[0].attempts, 2); /* counted when the lease was taken */
    assert_true(second.jobs[0].token > first.jobs[0].token);
    assert_int_equal(job_done(c, 1, &first.jobs[0]), ANSWER_STALE);
    assert_int_equal(job_done(c, 1, &second.jobs[0]), ANSWER_STALE); /* not its own */
    assert_int_equal(job_done(c, 2, &second.jobs[0]), ANSWER_APPLIED);
    struct job_counts counts = job_counted(c, "default");
    assert_int_equal(counts.lost, 1);
    assert_int_equal(counts.stale, 2);
    assert_int_equal(counts.done, 1);
}

/* covers: J05 */
static void renewing_keeps_what_is_named_and_reports_progress(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    join_jobs(c, 2);
    add(c, job_typed("a"));
    add(c, job_typed("b"));
    struct job_list got = take(c, 1, 2);
    advance(c, 50000);
    struct renew_item item = {{got.jobs[0].token, got.jobs[0].id}, STR("{\"page\":3}")};
    assert_int_equal(job_renew(c, 1, item, JOB_LEASE_MS).answer, ANSWER_APPLIED);
    assert_int_equal(job_renew(c, 2, item, JOB_LEASE_MS).answer, ANSWER_STALE);
    advance(c, 15000);
    struct job_list lost = take(c, 2, 10);
    assert_string_equal(types(c, lost), "b"); /* a hung sibling does not live on */
    assert_int_equal(job_row_of(c, got.jobs[0].id).job.lease_until_ms, c->now_ms + 45000);
    advance(c, 46000);
    struct job_list again = take(c, 2, 10);
    assert_string_equal(types(c, again), "a");
    assert_string_equal(again.jobs[0].progress.ptr, "{\"page\":3}"); /* to resume from */
    item.ref.id = 0;
    item.ref.token = again.jobs[0].token;
    item.progress = ABSENT;
    assert_int_equal(job_renew(c, 2, item, JOB_LEASE_MS).answer, ANSWER_APPLIED);
    assert_string_equal(job_row_of(c, got.jobs[0].id).job.progress.ptr, "{\"page\":3}");
    item.ref.token = got.jobs[0].token;
    assert_int_equal(job_renew(c, 1, item, JOB_LEASE_MS).answer, ANSWER_STALE);
}

static void a_token_counts_only_for_the_jobs_it_was_given_with(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    add(c, job_typed("a"));
    add(c, job_typed("b"));
    struct job_list a = take(c, 1, 1), b = take(c, 1, 1);
    struct job wrong = b.jobs[0];
    wrong.token = a.jobs[0].token;
    assert_int_equal(job_done(c, 1, &wrong), ANSWER_STALE);
    struct renew_item item = {{wrong.token, wrong.id}, ABSENT};
    assert_int_equal(job_renew(c, 1, item, JOB_LEASE_MS).answer, ANSWER_STALE);
    assert_int_equal(job_done(c, 1, &b.jobs[0]), ANSWER_APPLIED);
}

/* A claim of which a part lives on does not keep the sweep from the others. */
static void a_sweep_gets_on_however_many_claims_there_are(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    join_jobs(c, 2);
    for (int i = 0; i <= PAWL_JOB_SWEEP_CLAIMS; i++) {
        add(c, job_typed("a"));
        add(c, job_typed("b"));
        struct job_list got = take(c, 1, 2);
        struct renew_item item = {{got.jobs[0].token, got.jobs[0].id}, ABSENT};
        assert_int_equal(job_renew(c, 1, item, 10 * JOB_LEASE_MS).answer, ANSWER_APPLIED);
    }
    advance(c, JOB_LEASE_MS);
    assert_int_equal(take(c, 2, PAWL_BATCH_MAX).count, PAWL_JOB_SWEEP_CLAIMS);
    advance(c, PAWL_JOB_SWEEP_MS);
    assert_int_equal(take(c, 2, PAWL_BATCH_MAX).count, 1);
}

static void a_lease_may_become_shorter(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    join_jobs(c, 2);
    add(c, job_typed("a"));
    struct job_list got = take(c, 1, 1);
    struct renew_item item = {{got.jobs[0].token, got.jobs[0].id}, ABSENT};
    assert_int_equal(job_renew(c, 1, item, 2000).answer, ANSWER_APPLIED);
    advance(c, 2000);
    assert_string_equal(types(c, take(c, 2, 1)), "a");
}

/* covers: B4.1 B4.7 */
static void an_instance_that_goes_gives_its_jobs_back(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    join_jobs(c, 2);
    join_jobs(c, 3);
    int64_t a = add(c, job_typed("a"));
    struct job_list got = take(c, 1, 1);
    ok(c, c->core->instance_evict(c->store, instance_id(1), &c->err));
    assert_int_equal(job_row_of(c, a).state, JOB_READY);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_STALE);
    expect(c, PAWL_STALE,
           (c->jobs->claim)(c->store, &(struct jobs_claim){instance_id(1), {0}, 1, 60000, {{0}}}, c->arena,
                            &got, &c->err));
    got = take(c, 2, 1);
    assert_int_equal(got.jobs[0].attempts, 2);
    ok(c, c->core->instance_deregister(c->store, instance_id(2), &c->err));
    assert_int_equal(job_row_of(c, a).job.attempts, 1); /* a goodbye burns nothing */
    got = take(c, 3, 1);
    assert_int_equal(got.jobs[0].attempts, 2);
    assert_int_equal(job_counted(c, "default").lost, 1);
}

/* covers: B4.14 */
static void a_silent_instance_loses_its_jobs_at_the_next_sweep(void **state) {
    struct conf *c = *state;
    struct instance_new silent = instance_named(1, KIND_BIT_JOBS);
    silent.lease_ms = 15000;
    join_with(c, silent);
    join_jobs(c, 2);
    add(c, job_typed("a"));
    struct job_list got = take(c, 1, 1);
    advance(c, 15000); /* its job's lease would last 45 s more */
    assert_int_equal(take(c, 2, 1).count, 1);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_STALE);
}

static void a_repeated_request_gets_the_same_answer(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct job_new jobs[2] = {job_typed("a"), job_typed("b")};
    struct jobs_enqueue in = {.jobs = jobs, .count = 2, .request = request_id(1)};
    struct enqueue_result result;
    ok(c, c->jobs->enqueue(c->store, &in, c->arena, &result, &c->err));
    assert_int_equal(result.answers[1], ANSWER_APPLIED);
    assert_true(result.ids[1] > result.ids[0]);
    ok(c, c->jobs->enqueue(c->store, &in, c->arena, &result, &c->err));
    assert_int_equal(result.answers[0], ANSWER_DUPLICATE);
    assert_int_equal(result.ids[0], 0);
    /* Of a call with one job, the id is known as well. */
    struct job_new other = {.type = STR("c"), .queue = STR("other")};
    struct jobs_enqueue single = {.jobs = &other, .count = 1, .request = request_id(3)};
    ok(c, c->jobs->enqueue(c->store, &single, c->arena, &result, &c->err));
    int64_t made = result.ids[0];
    ok(c, c->jobs->enqueue(c->store, &single, c->arena, &result, &c->err));
    assert_int_equal(result.answers[0], ANSWER_DUPLICATE);
    assert_true(made > 0);
    assert_int_equal(result.ids[0], made);
    struct jobs_claim claim = job_claim_of(1, 10);
    claim.request = request_id(2);
    struct job_list first = take_with(c, claim);
    assert_int_equal(first.count, 2);
    assert_int_equal(job_done(c, 1, &first.jobs[0]), ANSWER_APPLIED);
    struct job_list again = take_with(c, claim);
    assert_int_equal(again.count, 1);
    assert_int_equal(again.jobs[0].id, first.jobs[1].id);
    assert_int_equal(again.jobs[0].token, first.jobs[1].token);
    assert_int_equal(again.jobs[0].attempts, 1);
    assert_int_equal(job_done(c, 1, &first.jobs[0]), ANSWER_DUPLICATE);
}

/* covers: J55 */
static void unique_keys_are_held_while_a_job_is_unfinished(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    struct job_new one = {.type = STR("a"), .unique_key = STR("order-7")};
    int64_t first = add(c, one), second = 0;
    assert_int_equal(try_add(c, one, &second), ANSWER_DUPLICATE);
    assert_int_equal(second, first);
    one.delay_ms = 10000;
    assert_int_equal(try_add(c, one, &second), ANSWER_DUPLICATE);
    struct job_list got = take(c, 1, 1);
    assert_int_equal(try_add(c, one, &second), ANSWER_DUPLICATE);
    assert_int_equal(job_fail(c, 1, &got.jobs[0], 5000).result, JOB_RESULT_RETRY);
    assert_int_equal(try_add(c, one, &second), ANSWER_DUPLICATE); /* a retry holds it, too */
    advance(c, 5000);
    got = take(c, 1, 1);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    assert_int_equal(try_add(c, one, &second), ANSWER_APPLIED);
    struct job_new both[2] = {{.type = STR("x"), .unique_key = STR("k")},
                              {.type = STR("y"), .unique_key = STR("k")}};
    struct enqueue_result result;
    ok(c, c->jobs->enqueue(c->store, &(struct jobs_enqueue){.jobs = both, .count = 2}, c->arena, &result,
                           &c->err));
    assert_int_equal(result.answers[0], ANSWER_APPLIED);
    assert_int_equal(result.answers[1], ANSWER_DUPLICATE);
    assert_int_equal(result.ids[1], result.ids[0]);
}

/* A job of a user with the key of a page would hold up that page, and one with that of a schedule the
 * schedule. */
static void keys_that_pawl_keeps_for_its_own_jobs_are_refused(void **state) {
    struct conf *c = *state;
    static const char *const keys[] = {"run:1:0:1", "run:1", "schedule:nightly", "run-plan:import"};
    const char *before = state_text_(c);
    for (size_t i = 0; i < 2 * (sizeof keys / sizeof keys[0]); i++) {
        struct job_new jobs[2] = {job_typed("a"), job_typed("b")};
        *(i % 2 == 0 ? &jobs[1].unique_key : &jobs[1].key) = str_from(keys[i / 2]);
        struct jobs_enqueue in = {.jobs = jobs, .count = 2};
        struct enqueue_result result;
        expect(c, PAWL_INVALID, c->jobs->enqueue(c->store, &in, c->arena, &result, &c->err));
        expect_error_(c, i % 2 == 0 ? "job 2 of 2: the unique key begins with '"
                                    : "job 2 of 2: the key begins with '");
    }
    struct task task = {.name = STR("t"), .type = STR("a"), .key = STR("schedule:nightly")};
    struct put_answer answer;
    expect(c, PAWL_INVALID, c->jobs->task_put(c->store, &task, c->arena, &answer, &c->err));
    expect_error_(c, "the key begins with 'schedule:'");
    assert_string_equal(state_text_(c), before);
    add(c, (struct job_new){.type = STR("a"), .key = STR("runs:1"), .unique_key = STR("a:run:1:0:1")});
}

/* covers: J02 B4.15 */
static void finishing_and_claiming_are_one_call(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    for (int i = 0; i < 6; i++)
        add(c, job_typed("a"));
    struct job_list got = take(c, 1, 3);
    struct finish_item items[4];
    for (int i = 0; i < 3; i++)
        items[i] = finish_of(&got.jobs[i], JOB_COMPLETE);
    items[3] = items[0];
    struct jobs_finish in = {.instance = instance_id(1),
                             .items = items,
                             .count = 4,
                             .claim = {.max = 2, .lease_ms = JOB_LEASE_MS}};
    struct finish_result result;
    ok(c, (c->jobs->finish)(c->store, &in, c->arena, &result, &c->err));
    for (int i = 0; i < 3; i++)
        assert_int_equal(result.answers[i], ANSWER_APPLIED);
    assert_int_equal(result.answers[3], ANSWER_DUPLICATE);
    assert_int_equal(result.jobs.count, 2);
    assert_true(result.jobs.jobs[0].token > got.jobs[0].token);
    in.count = 0;
    ok(c, (c->jobs->finish)(c->store, &in, c->arena, &result, &c->err));
    assert_int_equal(result.jobs.count, 1);
    assert_int_equal(job_counted(c, "default").running, 3);
}

/* Who watches its peers must know whether one has jobs in hand. */
static void an_instance_says_how_many_jobs_it_holds(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    join_jobs(c, 2);
    for (int i = 0; i < 3; i++)
        add(c, job_typed("a"));
    struct job_list both = take(c, 1, 2), one = take(c, 1, 1);
    assert_int_equal(instance_row(c, 1).jobs, 3);
    assert_int_equal(instance_row(c, 2).jobs, 0);
    assert_int_equal(job_done(c, 1, &both.jobs[0]), ANSWER_APPLIED);
    assert_int_equal(instance_row(c, 1).jobs, 2);
    assert_int_equal(job_done(c, 1, &both.jobs[1]), ANSWER_APPLIED);
    assert_int_equal(job_done(c, 1, &one.jobs[0]), ANSWER_APPLIED);
    assert_int_equal(instance_row(c, 1).jobs, 0);
}

static void lists_filter_and_page(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    for (int i = 0; i < 5; i++)
        add(c, (struct job_new){.type = i % 2 == 0 ? STR("even") : STR("odd"), .delay_ms = i < 3 ? 0 : 1000});
    (void)take(c, 1, 1);
    struct job_rows rows;
    ok(c, c->jobs->jobs(c->store, &(struct job_filter){.limit = 3}, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 3);
    int64_t last = rows.rows[2].job.id;
    ok(c,
       c->jobs->jobs(c->store, &(struct job_filter){.limit = 3, .after_id = last}, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.rows[0].state, JOB_LATER);
    ok(c, c->jobs->jobs(c->store, &(struct job_filter){.limit = 9, .type = STR("even")}, c->arena, &rows,
                        &c->err));
    assert_int_equal(rows.count, 3);
    ok(c, c->jobs->jobs(c->store, &(struct job_filter){.limit = 9, .state = JOB_READY}, c->arena, &rows,
                        &c->err));
    assert_int_equal(rows.count, 2);
    struct job_why why = job_why_of(c, rows.rows[1].job.id);
    assert_int_equal(why.cause, JOB_WHY_READY);
    assert_int_equal(why.ahead, 1);
    expect(c, PAWL_NOT_FOUND, c->jobs->why(c->store, 999999, c->arena, &why, &c->err));
}

/* A page ends when enough rows were looked at, full or not, and says where to go on. */
static void a_page_of_jobs_looks_at_so_many_rows(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    int64_t rare[2], running = 0;
    for (int i = 0; i < 20; i++) {
        int64_t id = add(c, (struct job_new){.type = i % 10 == 7 ? STR("rare") : STR("common"),
                                             .delay_ms = i % 2 == 0 ? 0 : 1000});
        if (i % 10 == 7)
            rare[i / 10] = id;
    }
    running = take(c, 1, 1).jobs[0].id;
    struct job_filter filter = {.limit = 9, .type = STR("rare"), .scan_max = 3};
    size_t found = 0, pages = 0;
    do {
        struct job_rows rows;
        ok(c, c->jobs->jobs(c->store, &filter, c->arena, &rows, &c->err));
        for (size_t i = 0; i < rows.count; i++)
            assert_int_equal(rows.rows[i].job.id, rare[found++]);
        assert_true(rows.next_id == 0 || rows.next_id > filter.after_id);
        filter.after_id = rows.next_id;
        pages++;
    } while (filter.after_id != 0);
    assert_int_equal(found, 2);
    assert_true(pages > 2);
    struct job_rows rows;
    filter = (struct job_filter){.limit = 5, .state = JOB_RUNNING};
    ok(c, c->jobs->jobs(c->store, &filter, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.rows[0].job.id, running);
    assert_int_equal(rows.next_id, 0);
    filter = (struct job_filter){.limit = 5, .id = rare[1], .type = STR("common")};
    ok(c, c->jobs->jobs(c->store, &filter, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 0);
}

static struct job_backlog backlog_of(struct conf *c, int look_max) {
    struct job_backlog backlog;
    ok(c, c->jobs->backlog(c->store, look_max, c->arena, &backlog, &c->err));
    return backlog;
}

/* covers: J26 J35 */
static void the_backlog_is_counted_by_priority_up_to_a_limit(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    assert_true(backlog_of(c, 1).all);
    assert_int_equal(backlog_of(c, 1).count, 0);
    add(c, (struct job_new){.type = STR("run"), .priority = 1000});
    assert_int_equal(take(c, 1, 1).count, 1); /* it runs: it does not wait */
    add(c, (struct job_new){.type = STR("a"), .priority = -3});
    add(c, (struct job_new){.type = STR("b"), .priority = 7, .key = STR("k")});
    add(c, (struct job_new){.type = STR("c"), .priority = 7, .queue = STR("mail")});
    add(c, (struct job_new){.type = STR("d"), .priority = 7, .delay_ms = 5000});
    int64_t waits = add(c, (struct job_new){.type = STR("e"), .queue = STR("asks")});
    struct jobs_claim in = job_claim_of(1, 1);
    in.queue = STR("asks");
    struct job_list got = take_with(c, in);
    assert_int_equal(got.jobs[0].id, waits);
    struct finish_item wait = {.ref = {got.jobs[0].token, waits},
                               .outcome = JOB_WAIT,
                               .delay_ms = -1,
                               .wait_key = STR("answer"),
                               .wait_step = STR("ask")};
    assert_int_equal(job_finish(c, 1, wait).answer, ANSWER_APPLIED);
    struct job_backlog all = backlog_of(c, PAWL_BACKLOG_LOOK);
    assert_true(all.all);
    assert_int_equal(all.count, 3);
    assert_int_equal(all.priorities[0].priority, 7);
    assert_int_equal(all.priorities[0].ready, 2);
    assert_int_equal(all.priorities[0].later, 1);
    assert_int_equal(all.priorities[1].priority, 0);
    assert_int_equal(all.priorities[1].ready, 0);
    assert_int_equal(all.priorities[1].later, 1);
    assert_int_equal(all.priorities[2].priority, -3);
    assert_int_equal(all.priorities[2].ready, 1);
    assert_int_equal(all.overdue, 0);
    struct job_backlog some = backlog_of(c, 2);
    int64_t ready = 0, later = 0;
    for (size_t i = 0; i < some.count; i++) {
        ready += some.priorities[i].ready;
        later += some.priorities[i].later;
    }
    assert_false(some.all);
    assert_int_equal(ready, 2);
    assert_int_equal(later, 2);
    advance(c, JOB_LEASE_MS);
    assert_int_equal(backlog_of(c, 2).overdue, 1); /* nobody has taken it back yet */
    struct job_backlog none;
    expect(c, PAWL_INVALID, c->jobs->backlog(c->store, 0, c->arena, &none, &c->err));
    expect_error(c, "look_max 0 is outside");
    expect(c, PAWL_INVALID, c->jobs->backlog(c->store, PAWL_BACKLOG_LOOK + 1, c->arena, &none, &c->err));
}

static void without_a_worker_a_job_says_so(void **state) {
    struct conf *c = *state;
    int64_t id = add(c, job_typed("a"));
    assert_int_equal(job_why_of(c, id).cause, JOB_WHY_NO_WORKER);
    join(c, 1, KIND_BITS_ALL);
    assert_int_equal(job_why_of(c, id).cause, JOB_WHY_NO_WORKER);
    join_jobs(c, 2);
    assert_int_equal(job_why_of(c, id).cause, JOB_WHY_READY);
}

/* covers: B4.17 J22 */
static void wrong_input_is_refused_with_its_place(void **state) {
    struct conf *c = *state;
    struct enqueue_result result;
    struct job_new jobs[2] = {job_typed("a"), {.payload = STR("{}")}};
    struct jobs_enqueue in = {.jobs = jobs, .count = 2};
    expect(c, PAWL_INVALID, c->jobs->enqueue(c->store, &in, c->arena, &result, &c->err));
    expect_error(c, "job 2 of 2: the type is missing");
    jobs[1] = (struct job_new){.type = STR("b"), .payload = STR("{")};
    expect(c, PAWL_INVALID, c->jobs->enqueue(c->store, &in, c->arena, &result, &c->err));
    expect_error(c, "job 2 of 2: the payload is not JSON");
    jobs[1] = (struct job_new){.type = STR("b"), .priority = 1001};
    expect(c, PAWL_INVALID, c->jobs->enqueue(c->store, &in, c->arena, &result, &c->err));
    expect_error(c, "priority 1001 is outside");
    jobs[1] = (struct job_new){.type = STR("b"), .task = STR("t")};
    expect(c, PAWL_INVALID, c->jobs->enqueue(c->store, &in, c->arena, &result, &c->err));
    struct job_list list;
    struct jobs_claim claim = job_claim_of(1, 0);
    expect(c, PAWL_INVALID, (c->jobs->claim)(c->store, &claim, c->arena, &list, &c->err));
    struct finish_item item = {.outcome = JOB_WAIT, .delay_ms = -1};
    struct jobs_finish finish = {.instance = instance_id(1), .items = &item, .count = 1};
    struct finish_result finished;
    expect(c, PAWL_INVALID, (c->jobs->finish)(c->store, &finish, c->arena, &finished, &c->err));
    expect_error(c, "wait key is missing");
    assert_int_equal(job_counted(c, "default").put, 0); /* nothing was stored */
}

static void pause_queue(struct conf *c, pawl_str queue) {
    struct pause_row in = {.scope = PAUSE_QUEUE, .name = queue, .actor = STR("anna")};
    ok(c, c->store->ops->relay->pause_set(c->store, &in, &c->err));
}

/* What runs may be renewed and end; what waits is not started, keyed or not, until the queue is resumed. */
static void a_paused_queue_starts_nothing(void **state) {
    struct conf *c = *state;
    join_jobs(c, 1);
    add(c, job_typed("a"));
    struct job_list got = take(c, 1, 10);
    pause_queue(c, STR("default"));
    int64_t id = add(c, (struct job_new){.type = STR("b")});
    add(c, (struct job_new){.type = STR("c"), .key = STR("k")});
    add(c, (struct job_new){.type = STR("d"), .queue = STR("other")});
    assert_int_equal(job_why_of(c, id).cause, JOB_WHY_PAUSED);
    assert_int_equal(take(c, 1, 10).count, 0);
    struct jobs_claim other = job_claim_of(1, 10);
    other.queue = STR("other");
    assert_string_equal(types(c, take_with(c, other)), "d");
    struct renew_item renewal = {{got.jobs[0].token, got.jobs[0].id}, {NULL, 0}};
    assert_int_equal(job_renew(c, 1, renewal, JOB_LEASE_MS).answer, ANSWER_APPLIED);
    assert_int_equal(job_done(c, 1, &got.jobs[0]), ANSWER_APPLIED);
    ok(c, c->store->ops->relay->pause_clear(c->store, PAUSE_QUEUE, STR("default"), &c->err));
    got = take(c, 1, 10);
    assert_int_equal(got.count, 2);
    assert_int_equal(got.jobs[0].attempts, 1);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(a_job_is_granted_once_and_gone_when_done),
    CONF_TEST(the_order_is_due_time_and_priority_that_ages),
    CONF_TEST(what_is_not_due_waits_apart),
    CONF_TEST(queues_are_apart),
    CONF_TEST(a_paused_queue_starts_nothing),
    CONF_TEST(a_lease_that_ends_gives_the_job_back_and_its_token_is_stale),
    CONF_TEST(renewing_keeps_what_is_named_and_reports_progress),
    CONF_TEST(a_token_counts_only_for_the_jobs_it_was_given_with),
    CONF_TEST(a_sweep_gets_on_however_many_claims_there_are),
    CONF_TEST(a_lease_may_become_shorter),
    CONF_TEST(an_instance_that_goes_gives_its_jobs_back),
    CONF_TEST(a_silent_instance_loses_its_jobs_at_the_next_sweep),
    CONF_TEST(a_repeated_request_gets_the_same_answer),
    CONF_TEST(unique_keys_are_held_while_a_job_is_unfinished),
    CONF_TEST(keys_that_pawl_keeps_for_its_own_jobs_are_refused),
    CONF_TEST(finishing_and_claiming_are_one_call),
    CONF_TEST(an_instance_says_how_many_jobs_it_holds),
    CONF_TEST(lists_filter_and_page),
    CONF_TEST(a_page_of_jobs_looks_at_so_many_rows),
    CONF_TEST(the_backlog_is_counted_by_priority_up_to_a_limit),
    CONF_TEST(without_a_worker_a_job_says_so),
    CONF_TEST(wrong_input_is_refused_with_its_place),
};

CONF_GROUP(jobs, tests);
