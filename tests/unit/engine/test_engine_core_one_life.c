/* What an end of a handler means is the same for messages, jobs and streams of perspectives, and the table in
 * docs/worker.md says so.
 */
#include "unit/engine/engine_driver.h"
#include "unit/engine/job_driver.h"

enum { DELAY_MS = 30000, DOC_BYTES = 65536, LINE_BYTES = 256 };

static const struct {
    const char *what;
    enum outcome_type outcome;
    enum job_end end;
    int64_t delay_ms;
} rows[] = {
    {"is done", OUTCOME_DONE, JOB_END_DONE, -1},
    {"fails", OUTCOME_RETRY, JOB_END_RETRY, -1},
    {"fails, with `retry-after 30s`", OUTCOME_RETRY, JOB_END_RETRY, DELAY_MS},
    {"fails for good", OUTCOME_PERMANENT, JOB_END_PERMANENT, -1},
    {"snoozes for 30 s", OUTCOME_SNOOZE, JOB_END_SNOOZE, DELAY_MS},
    {"is told to end by a stop", OUTCOME_CANCELLED, JOB_END_CANCELLED, -1},
    {"was not started in time", OUTCOME_NOT_RUN, JOB_END_NOT_RUN, -1},
};

static const char *failed_as(int64_t delay_ms, bool permanent) {
    return permanent              ? "failed for good: a dead letter"
           : delay_ms == DELAY_MS ? "failed; the next attempt 30 s later"
                                  : "failed; the next attempt after the backoff";
}

static const char *released_as(int64_t delay_ms) {
    return delay_ms == DELAY_MS ? "given back for 30 s, no attempt" : "given back, no attempt";
}

static const char *message_row(size_t at) {
    struct driver d;
    const char *said = "nothing";
    driver_init(&d);
    driver_up(&d);
    struct driver_grant *grant = driver_grant_new(&d);
    driver_item(&d, grant, NULL, "a");
    driver_answer(&d, grant);
    driver_ready(&d);
    driver_answer_empty(&d);
    driver_event(&d, EVENT_STOP); /* what did not run is not started again here */
    struct engine_outcome outcome = {
        .type = rows[at].outcome, .error = STR("why"), .delay_ms = rows[at].delay_ms};
    driver_step(&d, (struct engine_event){
                        .type = EVENT_FINISHED, .outcomes = &outcome, .count = 1, .elapsed_us = 1000});
    driver_ready(&d);
    const struct work_batch *batch = d.batch;
    if (batch->completion_count[KIND_OUTBOX] == 1)
        said = "completed";
    else if (batch->failure_count[KIND_OUTBOX] == 1)
        said = failed_as(batch->failures[KIND_OUTBOX][0].delay_ms,
                         batch->failures[KIND_OUTBOX][0].error_class == CLASS_PERMANENT);
    else if (batch->release_count[KIND_OUTBOX] == 1)
        said = released_as(batch->releases[KIND_OUTBOX][0].delay_ms);
    driver_answer_empty(&d);
    driver_free(&d);
    return said;
}

static const char *job_row(size_t at) {
    struct world w;
    begin(&w, (struct engine_handler){0});
    expect(&w, WISH_FINISH);
    answer(&w, 1, 1);
    expect(&w, WISH_START);
    no_more(&w);
    struct job_result_in result = {.end = rows[at].end, .delay_ms = rows[at].delay_ms};
    step(&w,
         (struct engine_event){.type = EVENT_FINISHED, .results = &result, .count = 1, .elapsed_us = 1000});
    const struct finish_item item = expect(&w, WISH_FINISH).finish->items[0];
    finish(&w);
    switch (item.outcome) {
    case JOB_COMPLETE:
        return "completed";
    case JOB_FAIL:
        return failed_as(item.delay_ms, item.error_class == CLASS_PERMANENT);
    case JOB_SNOOZE:
    case JOB_RELEASE:
        return released_as(item.delay_ms);
    default:
        return "something else";
    }
}

static const char *stream_row(size_t at) {
    struct driver d;
    driver_init(&d);
    driver_perspectives(&d, 0);
    driver_up(&d);
    driver_exchanged(&d, ANSWER_APPLIED, 1);
    driver_event(&d, EVENT_STOP);
    struct engine_outcome outcome = {
        .type = rows[at].outcome, .error = STR("why"), .delay_ms = rows[at].delay_ms, .version = 5};
    driver_step(&d, (struct engine_event){
                        .type = EVENT_FINISHED, .outcomes = &outcome, .count = 1, .elapsed_us = 1000});
    assert_int_equal(d.exchange->report_count, 1);
    const struct checkpoint_report report = d.exchange->reports[0];
    assert_int_equal(report.version, 5);
    driver_exchanged(&d, ANSWER_APPLIED, 0);
    driver_free(&d);
    switch (report.status) {
    case CHECKPOINT_COMPLETED:
        return "completed";
    case CHECKPOINT_FAILED:
        return failed_as(report.delay_ms, report.delay_ms == CHECKPOINT_GIVE_UP);
    default:
        return released_as(report.delay_ms);
    }
}

/* What a running handler hears when something is over, and what its success is worth then. */
static const struct {
    const char *what;
    int64_t timeout_ms;
} ends[] = {{"exceeds its time limit", 1000}, {"is still running when its lease ends", 0}};

static const char *ended_as(enum stop_reason reason, int64_t fenced) {
    return reason == STOP_TIMEOUT && fenced == 0  ? "told to end; what it then returns counts"
           : reason == STOP_FENCED && fenced == 1 ? "told to end; what it then returns has no effect"
                                                  : "something else";
}

/* From the start of the only handler until it is told to end; nothing that is asked of the store meanwhile is
 * answered. */
static const char *driver_end(struct driver *d) {
    for (int64_t until_ms = d->now_ms + DRIVER_LEASE_MS; d->cancels == 0 && d->now_ms < until_ms;) {
        driver_wait(d, 100);
        if (d->checking)
            driver_ready(d);
    }
    struct engine_outcome outcome = {.type = OUTCOME_DONE};
    driver_step(d, (struct engine_event){
                       .type = EVENT_FINISHED, .outcomes = &outcome, .count = 1, .elapsed_us = 1000});
    const char *said =
        ended_as(d->cancels > 0 ? d->cancel_reason : STOP_NONE, engine_metrics(d->core).fenced);
    driver_free(d);
    return said;
}

static const char *message_end(size_t at) {
    struct driver d;
    driver_init(&d);
    d.config.instance_lease_ms = 10 * (int64_t)DRIVER_LEASE_MS;
    d.handlers[0].timeout_ms = ends[at].timeout_ms;
    driver_up(&d);
    struct driver_grant *grant = driver_grant_new(&d);
    driver_item(&d, grant, NULL, "a");
    driver_answer(&d, grant);
    return driver_end(&d);
}

static const char *stream_end(size_t at) {
    struct driver d;
    driver_init(&d);
    d.config.instance_lease_ms = 10 * (int64_t)DRIVER_LEASE_MS;
    driver_perspectives(&d, 0);
    d.handlers[d.config.advance_handler].timeout_ms = ends[at].timeout_ms;
    driver_up(&d);
    driver_exchanged(&d, ANSWER_APPLIED, 1);
    return driver_end(&d);
}

static const char *job_end(size_t at) {
    struct world w;
    struct wished wished;
    begin(&w, (struct engine_handler){.timeout_ms = ends[at].timeout_ms});
    expect(&w, WISH_FINISH);
    answer(&w, 1, 1);
    expect(&w, WISH_START);
    int64_t until_ms = w.now_ms + LEASE_MS;
    while ((wished = next(&w)).type != WISH_CANCEL && w.now_ms < until_ms)
        w.now_ms += 100;
    enum stop_reason reason = wished.type == WISH_CANCEL ? wished.action.reason : STOP_NONE;
    struct job_result_in result = {.end = JOB_END_DONE};
    step(&w,
         (struct engine_event){.type = EVENT_FINISHED, .results = &result, .count = 1, .elapsed_us = 1000});
    const char *said = ended_as(reason, engine_metrics(w.core).jobs.fenced);
    finish(&w);
    return said;
}

static char doc[DOC_BYTES];

static int read_the_manual(void **state) {
    (void)state;
    FILE *file = fopen(PAWL_SOURCE_ROOT "/docs/worker.md", "re");
    assert_non_null(file);
    doc[fread(doc, 1, sizeof(doc) - 1, file)] = '\0';
    fclose(file);
    return 0;
}

static void must_have(const char *what, const char *said) {
    char line[LINE_BYTES];
    snprintf(line, sizeof(line), "\n| %s | %s |\n", what, said);
    if (strstr(doc, line) == NULL)
        fail_msg("docs/worker.md does not have the row%s", line);
}

static void test_the_table_of_ends(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        const char *message = message_end(i);
        assert_string_equal(message, job_end(i));
        assert_string_equal(message, stream_end(i));
        must_have(ends[i].what, message);
    }
}

static void test_the_table_of_the_manual(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *message = message_row(i), *job = job_row(i);
        assert_string_equal(message, job);
        assert_string_equal(message, stream_row(i));
        must_have(rows[i].what, message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_table_of_the_manual),
                                       cmocka_unit_test(test_the_table_of_ends)};
    return cmocka_run_group_tests(tests, read_the_manual, NULL);
}
