/* Helpers for the operations on jobs. */
#include "conformance/harness_jobs.h"

struct job_new job_typed(const char *type) {
    return (struct job_new){.type = str_from(type)};
}

enum store_answer try_add_(struct conf *c, struct job_new job, int64_t *id) {
    struct enqueue_result result;
    ok(c, c->jobs->enqueue(c->store, &(struct jobs_enqueue){.jobs = &job, .count = 1}, c->arena, &result,
                           &c->err));
    *id = result.ids[0];
    return result.answers[0];
}

int64_t add_(struct conf *c, struct job_new job) {
    int64_t id = 0;
    assert_int_equal(try_add_(c, job, &id), ANSWER_APPLIED);
    assert_true(id > 0);
    return id;
}

struct jobs_claim job_claim_of(int instance, int max) {
    return (struct jobs_claim){.instance = instance_id(instance), .max = max, .lease_ms = JOB_LEASE_MS};
}

struct job_list take_with_(struct conf *c, struct jobs_claim in) {
    struct job_list list;
    ok(c, (c->jobs->claim)(c->store, &in, c->arena, &list, &c->err));
    return list;
}

struct job_list take_(struct conf *c, int instance, int max) {
    return take_with_(c, job_claim_of(instance, max));
}

const char *types(struct conf *c, struct job_list list) {
    const char *text = "";
    for (size_t i = 0; i < list.count; i++)
        text = arena_printf(c->arena, "%s%s%.*s", text, i > 0 ? " " : "", STR_ARG(list.jobs[i].type));
    return text;
}

struct finish_item finish_of(const struct job *job, enum job_outcome outcome) {
    return (struct finish_item){
        .ref = {job->token, job->id}, .outcome = outcome, .error_class = CLASS_RETRYABLE};
}

struct finish_answer finish_(struct conf *c, int instance, struct finish_item item) {
    struct finish_result result;
    struct jobs_finish in = {.instance = instance_id(instance), .items = &item, .count = 1};
    ok(c, (c->jobs->finish)(c->store, &in, c->arena, &result, &c->err));
    assert_int_equal(result.count, 1);
    assert_int_equal(result.jobs.count, 0);
    return (struct finish_answer){result.answers[0], result.results[0]};
}

enum store_answer job_done_(struct conf *c, int instance, const struct job *job) {
    return finish_(c, instance, finish_of(job, JOB_COMPLETE)).answer;
}

struct finish_answer job_fail_(struct conf *c, int instance, const struct job *job, int64_t delay_ms) {
    struct finish_item item = finish_of(job, JOB_FAIL);
    item.error = STR("it broke");
    item.delay_ms = delay_ms;
    return finish_(c, instance, item);
}

struct renew_answer job_renew_(struct conf *c, int instance, struct renew_item item, int64_t lease_ms) {
    struct renew_result result;
    struct jobs_renew in = {instance_id(instance), &item, 1, lease_ms};
    ok(c, c->jobs->renew(c->store, &in, c->arena, &result, &c->err));
    return (struct renew_answer){result.answers[0], result.cancel[0]};
}

enum store_answer job_cancel_(struct conf *c, int64_t id) {
    struct job_answers answers;
    ok(c, (c->jobs->cancel)(c->store, &id, 1, c->arena, &answers, &c->err));
    return answers.answers[0];
}

enum store_answer job_redrive_(struct conf *c, int64_t id, bool discard) {
    struct job_answers answers;
    ok(c, (c->jobs->redrive)(c->store, &id, 1, discard, c->arena, &answers, &c->err));
    return answers.answers[0];
}

struct job_row job_row_(struct conf *c, int64_t id) {
    struct job_rows rows;
    ok(c, c->jobs->jobs(c->store, &(struct job_filter){.id = id, .limit = 2}, c->arena, &rows, &c->err));
    assert_true(rows.count <= 1);
    return rows.count == 1 ? rows.rows[0] : (struct job_row){.state = 0};
}

struct job_counts job_counted_(struct conf *c, const char *queue) {
    struct job_counts_list list;
    ok(c, c->jobs->counts(c->store, c->arena, &list, &c->err));
    assert_int_equal(list.now_ms, c->now_ms);
    for (size_t i = 0; i < list.count; i++)
        if (str_equal_cstr(list.queues[i].queue, queue))
            return list.queues[i];
    return (struct job_counts){.ready = 0};
}

struct job_why job_why_(struct conf *c, int64_t id) {
    struct job_why why;
    ok(c, c->jobs->why(c->store, id, c->arena, &why, &c->err));
    assert_int_equal(why.row.job.id, id);
    return why;
}

struct task_run_list job_runs_(struct conf *c, int64_t id) {
    struct task_run_list list;
    ok(c,
       c->jobs->runs(c->store, &(struct run_filter){.job_id = id, .limit = 100}, c->arena, &list, &c->err));
    return list;
}

void join_jobs_(struct conf *c, int n) { (void)join_(c, n, KIND_BIT_JOBS); }
