/* Running a page job: waiting for its turn, fetching the page, storing it. */
#include "work/run/page_job.h"

#include <time.h>

#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "work/authority.h"
#include "work/observe.h"
#include "work/run/paces.h"

enum {
    STORE_TRIES = 6,    /* tries of the commit, before the page is left to its lease */
    STORE_WAIT_MS = 50, /* doubled each time */
    SLOT_WAIT_MS = 250, /* how long a page waits for its turn in its slot; after that it is put back */
    AGAIN_MS = 1000,    /* how long a page is put back if the store does not answer */
    THROTTLED_MS_MIN = 100
};

/* One page in progress. */
struct work {
    const struct pipeline_run_in *in; /* own */
    struct pipeline_run_in own;       /* a copy of the job, with the run's agent if it has one */
    struct arena *arena;              /* lives as long as the result */
    struct job_result_in *result;
    struct page_ref ref;
    struct page page;
    struct run_doc doc;
};

static bool cancelled(const struct work *work) {
    return atomic_load_explicit(work->in->cancel, memory_order_relaxed);
}

static void end(struct work *work, enum job_end how, int64_t delay_ms, const char *error) {
    work->result->end = how;
    work->result->delay_ms = delay_ms;
    if (error != NULL)
        work->result->error = str_from(arena_strdup(work->arena, error));
}

/* The result of the page after a transient error. */
static void fail(struct work *work, pawl_status status, const pawl_error *err) {
    if (status == PAWL_STALE)
        end(work, JOB_END_CANCELLED, -1, "cancelled");
    else
        end(work, pipeline_is_permanent(status) ? JOB_END_PERMANENT : JOB_END_RETRY, -1, err->text);
}

static bool read_number(const struct tree *payload, const char *key, int64_t max, int64_t *value) {
    const struct tree *member = tree_get_cstr(payload, key);
    return member != NULL && tree_to_i64(member, value) && *value >= 0 && *value <= max;
}

pawl_status page_job_ref(const struct job *job, struct arena *arena, struct page_ref *ref, pawl_error *err) {
    const struct tree *payload = NULL;
    int64_t part = 0, generation = 0;
    struct page_ref read = {.job = {job->token, job->id}};
    pawl_status status = tree_parse(arena, job->payload, NULL, &payload, err);
    if (status != PAWL_OK)
        return status;
    if (!read_number(payload, "run", INT64_MAX, &read.run) ||
        !read_number(payload, "part", INT32_MAX, &part) ||
        !read_number(payload, "generation", INT32_MAX, &generation) ||
        !read_number(payload, "page", INT64_MAX, &read.page))
        return error_set(err, PAWL_INVALID, "page", "the job is no page of a run");
    read.part = (int)part;
    read.generation = (int)generation;
    *ref = read;
    return PAWL_OK;
}

/* A page that arrived twice, or out of order. */
static void log_skipped(const struct work *work, enum page_skip skip, int64_t next_offset) {
    static const char *const reasons[] = {"",
                                          "offset mismatch, skipping duplicate",
                                          "offset mismatch: the partition has not got that far yet",
                                          "of before a reset or a retry",
                                          "the partition is completed",
                                          "the run has ended",
                                          "the run is paused",
                                          "there is no such run or partition"};
    log_event(work->in->world->log, LOG_LEVEL_INFO, "page_skipped",
              "run=%lld partition=%d page=%lld generation=%d next_offset=%lld reason=%s",
              (long long)work->ref.run, work->ref.part, (long long)work->ref.page, work->ref.generation,
              (long long)next_offset, reasons[skip <= PAGE_UNKNOWN ? skip : 0]);
}

/* What to fetch. False: there is nothing to do, the result says why. */
static bool begin(struct work *work) {
    pawl_error err = {0};
    struct store *store = NULL;
    const struct tree *spec = NULL;
    pawl_status status = shared_store_take(work->in->world->shared, &store, &err);
    if (status == PAWL_OK) {
        status = store->ops->runs->page_begin(store, &work->ref, work->arena, &work->page, &err);
        shared_store_give(work->in->world->shared, status);
    }
    if (status != PAWL_OK) {
        log_failure(work->in->world->log, LOG_LEVEL_WARN, "page_begin_failed", &err);
        end(work, status == PAWL_STALE ? JOB_END_CANCELLED : JOB_END_NOT_RUN, AGAIN_MS, NULL);
        return false;
    }
    if (work->page.answer != ANSWER_APPLIED || work->page.outcome == PAGE_SKIPPED) {
        if (work->page.answer == ANSWER_APPLIED)
            log_skipped(work, work->page.skip, work->page.next_offset);
        end(work, JOB_END_SETTLED, -1, NULL);
        return false;
    }
    status = tree_parse(work->arena, work->page.spec, NULL, &spec, &err);
    if (status == PAWL_OK)
        status = run_doc_read(work->arena, spec, &work->doc, &err);
    if (status == PAWL_OK)
        status = authority_join(work->in, work->page.agent, "run", &work->own.agent, &err);
    if (status == PAWL_OK)
        status = authority_run(work->in, &work->doc, work->arena, &err);
    if (status != PAWL_OK)
        fail(work, status, &err);
    return status == PAWL_OK;
}

/* Waits for its turn. False: it is put back for a while. */
static bool wait_turn(struct work *work) {
    int64_t until_ms = clock_boot_ms() + SLOT_WAIT_MS;
    while (true) {
        int64_t now_ms = clock_boot_ms();
        int64_t wait_ms = run_paces_ask(work->in->world->paces, work->ref.run, &work->doc.rate, now_ms);
        if (wait_ms == 0)
            return true;
        if (cancelled(work) || now_ms + wait_ms > until_ms) {
            end(work, cancelled(work) ? JOB_END_CANCELLED : JOB_END_SNOOZE, wait_ms, NULL);
            return false;
        }
        nanosleep(&(struct timespec){0, (long)wait_ms * 1000000L}, NULL);
    }
}

/* Makes the rest of the fleet slow down too. */
static void tell_pace(const struct work *work, const struct run_pace *pace) {
    struct store *store = NULL;
    enum store_answer answer = ANSWER_APPLIED;
    pawl_error err = {0};
    pawl_status status = shared_store_take(work->in->world->shared, &store, &err);
    if (status == PAWL_OK) {
        status = store->ops->runs->pace(store, pace, &answer, &err);
        shared_store_give(work->in->world->shared, status);
    }
    if (status != PAWL_OK)
        log_failure(work->in->world->log, LOG_LEVEL_WARN, "run_pace_failed", &err);
    else
        log_event(work->in->world->log, LOG_LEVEL_INFO, "run_paced",
                  "run=%lld concurrency=%d rate=%d rate_ms=%lld hold_ms=%lld", (long long)pace->run,
                  pace->concurrency, pace->rate, (long long)pace->rate_ms, (long long)pace->hold_ms);
}

static void take_news(const struct work *work, pawl_status status, const struct page_fetched *fetched,
                      int64_t began_ms) {
    int64_t now_ms = clock_boot_ms(), limit_ms = work->doc.fetch.timeout_ms;
    enum run_rate_news news = RUN_RATE_OTHER;
    struct run_pace pace;
    if (work->in->deadline_ms > 0 && work->in->deadline_ms - began_ms < limit_ms)
        limit_ms = work->in->deadline_ms - began_ms;
    if (status == PAWL_OK || status == PAWL_INVALID)
        news = RUN_RATE_FINE;
    else if (fetched->throttled)
        news = RUN_RATE_THROTTLED;
    else if (now_ms - began_ms >= limit_ms * 9 / 10)
        news = RUN_RATE_TIMEOUT;
    if (run_paces_end(work->in->world->paces, work->ref.run, now_ms, news, fetched->retry_after_ms, &pace))
        tell_pace(work, &pace);
}

static void log_commit(const struct work *work, const struct page_result *done, size_t items,
                       int64_t fetch_ms) {
    static const char *const names[] = {"", "advanced", "finished", "skipped", "failed"};
    struct log *log = work->in->world->log;
    if (done->answer != ANSWER_APPLIED) {
        log_event(log, LOG_LEVEL_INFO, "page_late", "run=%lld partition=%.*s page=%lld answer=%s",
                  (long long)work->ref.run, STR_ARG(work->page.partition), (long long)work->ref.page,
                  done->answer == ANSWER_DUPLICATE ? "duplicate" : "stale");
        return;
    }
    if (done->outcome == PAGE_SKIPPED) {
        log_skipped(work, done->skip, done->next_offset);
        return;
    }
    log_event(log, done->outcome == PAGE_FAILED ? LOG_LEVEL_WARN : LOG_LEVEL_DEBUG, "page",
              "run=%lld partition=%.*s page=%lld outcome=%s items=%zu offset=%lld fetch_ms=%lld error=%.*s",
              (long long)work->ref.run, STR_ARG(work->page.partition), (long long)work->ref.page,
              names[done->outcome], items, (long long)done->next_offset, (long long)fetch_ms,
              STR_ARG(done->error));
}

/* Items, progress, the next page and the end of the job: one transaction. Repeating it is harmless: the
 * second answer is duplicate. */
static void commit(struct work *work, const struct run_page *page, int64_t fetch_ms) {
    struct run_item *items = arena_array(work->arena, page->count + 1, sizeof(*items));
    struct page_commit put = {.ref = work->ref,
                              .items = items,
                              .count = page->count,
                              .more = page->end ? MORE_NO : MORE_YES,
                              .cursor = page->cursor,
                              .fetch_ms = fetch_ms};
    struct page_result done = {0};
    pawl_error err = {0};
    pawl_status status = items != NULL ? PAWL_UNAVAILABLE : PAWL_NO_MEMORY;
    for (size_t i = 0; items != NULL && i < page->count; i++)
        items[i] = (struct run_item){page->items[i].key, page->items[i].json};
    for (int i = 0; i < STORE_TRIES && (status == PAWL_UNAVAILABLE || status == PAWL_BUSY); i++) {
        struct store *store = NULL;
        if (i > 0)
            nanosleep(&(struct timespec){0, (STORE_WAIT_MS * 1000000L) << (i < 4 ? i : 4)}, NULL);
        status = shared_store_take(work->in->world->shared, &store, &err);
        if (status != PAWL_OK)
            continue;
        status = store->ops->runs->page_commit(store, &put, work->arena, &done, &err);
        shared_store_give(work->in->world->shared, status);
        if (status == PAWL_UNKNOWN)
            status = PAWL_UNAVAILABLE;
    }
    if (status != PAWL_OK) {
        log_failure(work->in->world->log, LOG_LEVEL_WARN, "page_commit_failed", &err);
        fail(work, status, &err);
        return;
    }
    log_commit(work, &done, page->count, fetch_ms);
    end(work, JOB_END_SETTLED, -1, NULL);
}

/* The page itself, inside the span of its job. */
static void end_span(const struct work *work, struct span *span) {
    struct span_attribute attributes[] = {SPAN_NUMBER("pawl.run.id", work->ref.run),
                                          SPAN_TEXT("pawl.run.partition", work->page.partition),
                                          SPAN_NUMBER("pawl.run.page", work->ref.page),
                                          SPAN_NUMBER("pawl.run.generation", work->ref.generation)};
    span_end(span, &(struct span_about){.kind = SPAN_INTERNAL,
                                        .operation = "page",
                                        .attributes = attributes,
                                        .attribute_count = sizeof(attributes) / sizeof(*attributes),
                                        .failed = work->result->end == JOB_END_RETRY ||
                                                  work->result->end == JOB_END_PERMANENT,
                                        .error = work->result->error});
}

static void fetch_and_commit(struct work *work) {
    struct page_fetch ask = {work->in, &work->ref, &work->page, &work->doc};
    struct page_fetched fetched;
    pawl_error err = {0};
    int64_t began_ms = clock_boot_ms();
    pawl_status status = page_fetch(&ask, work->arena, &fetched, &err);
    take_news(work, status, &fetched, began_ms);
    if (status == PAWL_OK) {
        commit(work, &fetched.page, clock_boot_ms() - began_ms);
        return;
    }
    if (fetched.throttled) {
        int64_t delay_ms = fetched.retry_after_ms > THROTTLED_MS_MIN ? fetched.retry_after_ms
                                                                     : RUN_RATE_PAUSE_MS;
        end(work, JOB_END_SNOOZE, delay_ms, NULL);
    } else {
        fail(work, status, &err);
        if (work->result->end == JOB_END_RETRY && fetched.retry_after_ms > 0)
            work->result->delay_ms = fetched.retry_after_ms;
    }
    if (status != PAWL_STALE)
        log_event(work->in->world->log, LOG_LEVEL_WARN, "page_not_fetched",
                  "run=%lld partition=%.*s page=%lld attempt=%d throttled=%s error=%s",
                  (long long)work->ref.run, STR_ARG(work->page.partition), (long long)work->ref.page,
                  work->in->job->attempts, fetched.throttled ? "true" : "false", err.text);
}

void page_job_run(const struct pipeline_run_in *in, struct job_result_in *result) {
    struct work work = {.own = *in, .result = result, .arena = arena_create(0)};
    work.in = &work.own;
    pawl_error err = {0};
    *result = (struct job_result_in){.end = JOB_END_RETRY, .delay_ms = -1, .error = STR("out of memory")};
    if (work.arena == NULL)
        return;
    result->error = (pawl_str){NULL, 0};
    result->owner = work.arena;
    pawl_status status = page_job_ref(in->job, work.arena, &work.ref, &err);
    work.ref.instance = in->instance;
    if (status != PAWL_OK)
        fail(&work, status, &err);
    else if (begin(&work) && wait_turn(&work)) {
        struct observer *observer = in->world->observer;
        struct span span;
        span_begin(observer != NULL ? observer->tracer : NULL, in->job->traceparent, &span);
        work.page.traceparent = span_traceparent(&span, work.page.traceparent);
        fetch_and_commit(&work);
        end_span(&work, &span);
    }
}
