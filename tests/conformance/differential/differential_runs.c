/* The same random life of runs on SQLite and on PostgreSQL: starts, pages that come once, twice, late
 * and out of order, failures, people, expired leases; the same answers, the same state. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "conformance/differential/pair.h"
#include "support/check.h"

enum { RUNS = 400, HELD = 40, PARTS_MAX = 4, ITEMS_MAX = 5, REPORTS_MAX = 3, DAY_MS = 86400000 };

/* A job as both sides granted it. */
struct held {
    int64_t token[PAIR_SIDES], id[PAIR_SIDES];
    int instance, run; /* run: its number; -1: the job is of no run */
    int part, generation;
    int64_t page;
    bool is_page;
};

struct world {
    struct pair pair;
    int64_t runs[PAIR_SIDES][RUNS];
    int made, tries; /* tries: keys that were drawn */
    struct held held[HELD];
    int granted;
};

static const struct store_runs_ops *runs_of(const struct world *w, int s) {
    return w->pair.store[s]->ops->runs;
}

static const struct store_jobs_ops *jobs_of(const struct world *w, int s) {
    return w->pair.store[s]->ops->jobs;
}

static int pick(struct world *w, int below) { return pair_pick(&w->pair, below); }

static bool chance(struct world *w, int percent) { return pair_chance(&w->pair, percent); }

static int run_number(const struct world *w, int s, int64_t id) {
    for (int i = w->made; i-- > 0;)
        if (w->runs[s][i] == id)
            return i;
    return -1;
}

/* The run's number, or -1, of a payload that begins with its id; rest is what follows the id. */
static int payload_run(const struct world *w, int s, pawl_str payload, pawl_str *rest) {
    int64_t id = 0;
    int used = 0;
    *rest = payload;
    if (str_absent(payload) || sscanf(payload.ptr, "{\"run\":%" SCNd64 "%n", &id, &used) != 1)
        return -1;
    *rest = (pawl_str){payload.ptr + used, payload.len - (size_t)used};
    const char *number = memmem(rest->ptr, rest->len, "its job ", 8); /* each store numbers its jobs */
    if (number != NULL)
        rest->len = (size_t)(number - rest->ptr);
    return run_number(w, s, id);
}

/* A unique key or a limit's key without the id of its run. */
static pawl_str key_rest(pawl_str key) {
    const char *colon = str_absent(key) ? NULL : memchr(key.ptr, ':', key.len);
    colon = colon == NULL ? NULL : memchr(colon + 1, ':', key.len - (size_t)(colon + 1 - key.ptr));
    return colon == NULL ? STR("") : (pawl_str){colon, key.len - (size_t)(colon - key.ptr)};
}

static void say_job(struct world *w, int s, const struct job *j) {
    pawl_str rest;
    int run = payload_run(w, s, j->payload, &rest);
    pair_say(&w->pair, s,
             "\n job %.*s run %d%.*s held=%d lease=%" PRId64 " p=%d a=%d/%d f=%d put=%" PRId64 " due=%" PRId64
             " timeout=%" PRId64 " cancel=%" PRId64 " keyed=%d",
             STR_ARG(j->type), run, STR_ARG(rest), j->token > 0, j->lease_until_ms, j->priority, j->attempts,
             j->max_attempts, j->flags, j->put_ms, j->due_ms, j->timeout_ms, j->cancel_ms,
             !str_absent(j->key));
    pair_say_text(&w->pair, s, "unique", key_rest(j->unique_key));
}

static int start_parts(struct world *w, struct partition_new *parts) {
    int count = chance(w, 10) ? 0 : pick(w, PARTS_MAX) + 1;
    bool bounded = chance(w, 20);
    for (int i = 0; i < count; i++) {
        parts[i] = (struct partition_new){.name = pair_name(&w->pair, "p", i),
                                          .bounded = bounded,
                                          .low = i * 10,
                                          .high = i * 10 + 10 + (chance(w, 3) ? 5 : 0),
                                          .total = chance(w, 50) ? -1 : pick(w, 20),
                                          .offset = chance(w, 20) ? pick(w, 9) : 0};
        if (chance(w, 20))
            parts[i].cursor = STR("\"c0\"");
        if (chance(w, 30))
            parts[i].params = STR("{\"x\":1}");
    }
    return count;
}

static void start(struct world *w) {
    struct partition_new parts[PARTS_MAX];
    struct run_started out[PAIR_SIDES];
    struct run_start in = {.name = STR("run"),
                           .type = STR("page"),
                           .page_size = pick(w, ITEMS_MAX - 1) + 1,
                           .concurrency = chance(w, 20) ? pick(w, 2) + 1 : 0,
                           .paced = chance(w, 10),
                           .max_attempts = pick(w, 3) + 1,
                           .priority = pick(w, 3) - 1,
                           .flags = chance(w, 10) ? pick(w, 4) : 0,
                           .end = (enum end_rule)(pick(w, 2) + 1),
                           .policy = (enum failed_policy)(pick(w, 3) + 1),
                           .partitions = parts};
    if (w->made == RUNS)
        return;
    in.count = (size_t)start_parts(w, parts);
    if (chance(w, 60))
        in.consolidate = STR("sum");
    if (chance(w, 20))
        in.announce = STR("done");
    in.key = chance(w, 20) ? pair_name(&w->pair, "key", pick(w, 12)) : pair_name(&w->pair, "own", w->tries++);
    if (chance(w, 5))
        in.target = STR("nowhere");
    int parent = w->made > 0 && chance(w, 25) ? pick(w, w->made) : -1;
    pair_describe(&w->pair, "start %d: %zu partitions policy=%d end=%d parent=%d", w->made, in.count,
                  (int)in.policy, (int)in.end, parent);
    for (int s = 0; s < PAIR_SIDES; s++) {
        pawl_error err = {0};
        in.parent = parent < 0 ? 0 : w->runs[s][parent];
        if (!pair_ok(&w->pair, s, runs_of(w, s)->start(w->pair.store[s], &in, &out[s], &err), &err))
            out[s].answer = ANSWER_CONFLICT;
        pair_say(&w->pair, s, " %d", (int)out[s].answer);
        if (out[s].answer == ANSWER_DUPLICATE)
            pair_say(&w->pair, s, " of %d", run_number(w, s, out[s].id));
    }
    if (out[0].answer == ANSWER_APPLIED && out[1].answer == ANSWER_APPLIED) {
        for (int s = 0; s < PAIR_SIDES; s++)
            w->runs[s][w->made] = out[s].id;
        w->made++;
    }
}

static void note_grant(struct world *w, int instance, const struct job_list lists[static PAIR_SIDES]) {
    if (lists[0].count != lists[1].count)
        return;
    for (size_t i = 0; i < lists[0].count; i++) {
        const struct job *job = &lists[0].jobs[i];
        struct held *held = &w->held[w->granted++ % HELD];
        pawl_str rest;
        *held = (struct held){.instance = instance, .run = payload_run(w, 0, job->payload, &rest)};
        held->is_page = str_equal(job->type, STR("page")) &&
                        sscanf(rest.ptr, ",\"part\":%d,\"generation\":%d,\"page\":%" SCNd64, &held->part,
                               &held->generation, &held->page) == 3;
        for (int s = 0; s < PAIR_SIDES; s++) {
            held->token[s] = lists[s].jobs[i].token;
            held->id[s] = lists[s].jobs[i].id;
        }
    }
}

static void claim(struct world *w) {
    int instance = pick(w, PAIR_INSTANCES);
    struct job_list lists[PAIR_SIDES] = {{NULL, 0}};
    bool gone = false;
    struct jobs_claim in = {.instance = pair_instance(&w->pair, instance),
                            .max = pick(w, 4) + 1,
                            .lease_ms = 500 + pick(w, 9000)};
    pair_describe(&w->pair, "claim %d by %d", in.max, instance);
    for (int s = 0; s < PAIR_SIDES; s++) {
        pawl_error err = {0};
        pawl_status status = jobs_of(w, s)->claim(w->pair.store[s], &in, w->pair.arena, &lists[s], &err);
        gone = gone || status == PAWL_STALE;
        if (!pair_ok(&w->pair, s, status, &err))
            continue;
        for (size_t i = 0; i < lists[s].count; i++)
            say_job(w, s, &lists[s].jobs[i]);
    }
    note_grant(w, instance, lists);
    if (gone)
        pair_instance_new(&w->pair, KIND_BIT_JOBS, instance);
}

/* Mostly one of the latest; NULL when there is none. */
static struct held *held_pick(struct world *w) {
    int kept = w->granted < HELD ? w->granted : HELD;
    if (kept == 0)
        return NULL;
    int reach = chance(w, 80) && kept > 8 ? 8 : kept;
    return &w->held[(w->granted - 1 - pick(w, reach)) % HELD];
}

/* Which page a caller names; now and then another one than the job's. */
static struct page_ref ref_of(struct world *w, int s, const struct held *held, int wrong) {
    return (struct page_ref){.instance = pair_instance(&w->pair, held->instance),
                             .job = {held->token[s], held->id[s]},
                             .run = held->run < 0 ? 999999 : w->runs[s][held->run],
                             .part = held->part + (wrong == 1 ? 1 : 0),
                             .generation = held->generation + (wrong == 2 ? 1 : 0),
                             .page = wrong == 3 && held->page > 0 ? held->page - 1
                                                                  : held->page + (wrong == 4 ? 1 : 0)};
}

static void say_page_end(struct world *w, int s, enum store_answer answer, enum page_outcome outcome,
                         enum page_skip skip) {
    pair_say(&w->pair, s, " %d", (int)answer);
    if (answer == ANSWER_APPLIED)
        pair_say(&w->pair, s, " outcome=%d skip=%d", (int)outcome, (int)skip);
}

static void commit_page(struct world *w) {
    struct run_item items[ITEMS_MAX];
    struct page_commit in = {.items = items, .fetch_ms = pick(w, 90)};
    const struct held *held = held_pick(w);
    int wrong = chance(w, 12) ? pick(w, 4) + 1 : 0;
    if (held == NULL || !held->is_page)
        return;
    in.count = (size_t)pick(w, ITEMS_MAX);
    for (size_t i = 0; i < in.count; i++)
        items[i] =
            (struct run_item){pair_name(&w->pair, "k", pick(w, 30)), pair_name(&w->pair, "", pick(w, 9))};
    if (in.count > 0 && chance(w, 3))
        items[0].key = STR("");
    in.more = (enum page_more)pick(w, 3);
    if (chance(w, 50))
        in.cursor = str_from(arena_printf(w->pair.arena, "\"c%d\"", pick(w, 4)));
    pair_describe(&w->pair, "commit run %d part %d page %" PRId64 ": %zu items more=%d cursor=%.*s wrong=%d",
                  held->run, held->part, held->page, in.count, (int)in.more, STR_ARG(in.cursor), wrong);
    for (int s = 0; s < PAIR_SIDES; s++) {
        struct page_result out;
        pawl_error err = {0};
        in.ref = ref_of(w, s, held, wrong);
        if (!pair_ok(&w->pair, s,
                     runs_of(w, s)->page_commit(w->pair.store[s], &in, w->pair.arena, &out, &err), &err))
            continue;
        say_page_end(w, s, out.answer, out.outcome, out.skip);
        if (out.answer != ANSWER_APPLIED)
            continue;
        pair_say(&w->pair, s, " next=%" PRId64 " job=%d last=%d", out.next_offset, out.next_job > 0,
                 out.last);
        pair_say_text(&w->pair, s, "error", out.error);
    }
}

static void begin_page(struct world *w) {
    const struct held *held = held_pick(w);
    int wrong = chance(w, 12) ? pick(w, 4) + 1 : 0;
    if (held == NULL || !held->is_page)
        return;
    pair_describe(&w->pair, "begin run %d part %d page %" PRId64 " wrong=%d", held->run, held->part,
                  held->page, wrong);
    for (int s = 0; s < PAIR_SIDES; s++) {
        struct page_ref ref = ref_of(w, s, held, wrong);
        struct page out;
        pawl_error err = {0};
        if (!pair_ok(&w->pair, s,
                     runs_of(w, s)->page_begin(w->pair.store[s], &ref, w->pair.arena, &out, &err), &err))
            continue;
        say_page_end(w, s, out.answer, out.outcome, out.skip);
        if (out.answer != ANSWER_APPLIED || out.outcome != PAGE_ADVANCED)
            continue;
        pair_say(&w->pair, s,
                 " offset=%" PRId64 " limit=%d end=%d bounds=%d %" PRId64 "-%" PRId64 " of %" PRId64,
                 out.offset, out.limit, (int)out.end, out.bounded, out.low, out.high, out.total);
        pair_say_text(&w->pair, s, "partition", out.partition);
        pair_say_text(&w->pair, s, "params", out.params);
        pair_say_text(&w->pair, s, "cursor", out.cursor);
    }
}

/* Several jobs of one worker end in one call, some of them for good. */
static void report(struct world *w) {
    struct finish_item items[REPORTS_MAX];
    const struct held *held[REPORTS_MAX];
    struct jobs_finish in = {.items = items};
    while (in.count < REPORTS_MAX && (in.count == 0 || chance(w, 50))) {
        const struct held *one = held_pick(w);
        if (one == NULL)
            return;
        held[in.count] = one;
        items[in.count++] =
            (struct finish_item){.outcome = (enum job_outcome)(chance(w, 60) ? JOB_FAIL : pick(w, 4) + 1),
                                 .error_class = chance(w, 40) ? CLASS_PERMANENT : CLASS_RETRYABLE,
                                 .delay_ms = pick(w, 2000),
                                 .error = STR("it broke")};
    }
    in.instance = pair_instance(&w->pair, held[0]->instance);
    pair_describe(&w->pair, "report");
    for (size_t i = 0; i < in.count; i++)
        pair_describe(&w->pair, " run %d part %d outcome=%d/%d", held[i]->run, held[i]->part,
                      (int)items[i].outcome, (int)items[i].error_class);
    for (int s = 0; s < PAIR_SIDES; s++) {
        struct finish_result out;
        pawl_error err = {0};
        for (size_t i = 0; i < in.count; i++) {
            items[i].ref = (struct job_ref){held[i]->token[s], held[i]->id[s]};
            if (items[i].outcome != JOB_FAIL)
                items[i].error = (pawl_str){NULL, 0};
        }
        if (!pair_ok(&w->pair, s, jobs_of(w, s)->finish(w->pair.store[s], &in, w->pair.arena, &out, &err),
                     &err))
            continue;
        for (size_t i = 0; i < in.count; i++)
            pair_say(&w->pair, s, " %d/%d", (int)out.answers[i], (int)out.results[i]);
    }
}

/* A page that is delivered again, not by the store. */
static void copy_page(struct world *w) {
    const struct held *held = held_pick(w);
    if (held == NULL || !held->is_page || held->run < 0)
        return;
    pair_describe(&w->pair, "copy of run %d part %d page %" PRId64, held->run, held->part, held->page);
    for (int s = 0; s < PAIR_SIDES; s++) {
        struct job_new job = {
            .type = STR("page"),
            .payload = str_from(arena_printf(
                w->pair.arena, "{\"run\":%" PRId64 ",\"part\":%d,\"generation\":%d,\"page\":%" PRId64 "}",
                w->runs[s][held->run], held->part, held->generation, held->page))};
        struct jobs_enqueue in = {.jobs = &job, .count = 1};
        struct enqueue_result out;
        pawl_error err = {0};
        (void)pair_ok(&w->pair, s, jobs_of(w, s)->enqueue(w->pair.store[s], &in, w->pair.arena, &out, &err),
                      &err);
    }
}

static pawl_status person(struct world *w, int s, int deed, int64_t run, const int numbers[3],
                          pawl_error *err) {
    const struct store_runs_ops *ops = runs_of(w, s);
    struct store *store = w->pair.store[s];
    enum store_answer answer = ANSWER_APPLIED;
    struct run_retried retried = {0};
    struct partition_reset reset = {.run = run, .part = numbers[0], .offset = numbers[1]};
    struct run_retry retry = {.run = run, .part = numbers[2] % 3 == 0 ? -1 : numbers[0]};
    struct run_pace pace = {.run = run,
                            .concurrency = numbers[0] - 1,
                            .rate = numbers[2] % 2 == 0 ? -1 : 100,
                            .rate_ms = 1000,
                            .hold_ms = numbers[1] % 3 == 0 ? 200 : 0};
    pawl_status status = deed == 0   ? ops->reset(store, &reset, &answer, err)
                         : deed <= 2 ? ops->retry(store, &retry, &retried, err)
                         : deed == 3 ? ops->pause(store, run, true, &answer, err)
                         : deed <= 5 ? ops->pause(store, run, false, &answer, err)
                         : deed == 6 ? ops->pace(store, &pace, &answer, err)
                                     : ops->cancel(store, run, &answer, err);
    if (status == PAWL_OK)
        pair_say(&w->pair, s, " %d %d/%d", (int)answer, (int)retried.answer, retried.count);
    return status;
}

static void people(struct world *w) {
    int deed = pick(w, 8), numbers[3] = {pick(w, PARTS_MAX), pick(w, 40), pick(w, 6)};
    if (w->made == 0 || (deed == 7 && chance(w, 70)))
        return;
    int run = chance(w, 70) && w->made > 6 ? w->made - 1 - pick(w, 6) : pick(w, w->made);
    pair_describe(&w->pair, "person: deed %d run %d numbers %d %d %d", deed, run, numbers[0], numbers[1],
                  numbers[2]);
    for (int s = 0; s < PAIR_SIDES; s++) {
        pawl_error err = {0};
        (void)pair_ok(&w->pair, s, person(w, s, deed, w->runs[s][run], numbers, &err), &err);
    }
}

/* Jobs of runs are cancelled, redriven or discarded like any other. */
static void jobs_ended(struct world *w) {
    const struct held *held[2] = {held_pick(w), held_pick(w)};
    int deed = pick(w, 4);
    if (held[0] == NULL)
        return;
    pair_describe(&w->pair, "jobs: deed %d run %d part %d, run %d part %d", deed, held[0]->run, held[0]->part,
                  held[1]->run, held[1]->part);
    for (int s = 0; s < PAIR_SIDES; s++) {
        int64_t ids[2] = {held[0]->id[s], held[1]->id[s]};
        struct job_answers answers = {NULL, 0};
        pawl_error err = {0};
        pawl_status status =
            deed == 0
                ? jobs_of(w, s)->cancel(w->pair.store[s], ids, 2, w->pair.arena, &answers, &err)
                : jobs_of(w, s)->redrive(w->pair.store[s], ids, 2, deed == 1, w->pair.arena, &answers, &err);
        if (pair_ok(&w->pair, s, status, &err))
            pair_say(&w->pair, s, " %d %d", (int)answers.answers[0], (int)answers.answers[1]);
    }
}

static void maintain(struct world *w) {
    int rows_max = pick(w, 20) + 1;
    pair_describe(&w->pair, "maintain %d", rows_max);
    for (int s = 0; s < PAIR_SIDES; s++) {
        struct runs_maintain_result out;
        pawl_error err = {0};
        if (pair_ok(&w->pair, s, runs_of(w, s)->maintain(w->pair.store[s], rows_max, &out, &err), &err))
            pair_say(&w->pair, s, " %" PRId64 " %" PRId64, out.runs_removed, out.items_removed);
    }
}

static void say_run(struct world *w, int s, const struct run_row *r) {
    struct pair *pair = &w->pair;
    pair_say(
        pair, s, "\n run %d state=%d paused=%d paced=%d consolidated=%d parent=%d children=%d/%d round=%d",
        run_number(w, s, r->id), (int)r->state, r->paused, r->paced, r->consolidated,
        r->parent > 0 ? run_number(w, s, r->parent) : -1, r->children_open, r->children_failed, r->round);
    pair_say(pair, s, " parts=%d %d+%d+%d total=%" PRId64 " items=%" PRId64 "-%" PRId64, r->partitions,
             r->remaining, r->done, r->failed, r->total, r->items, r->repeats);
    pair_say(pair, s, " pages=%" PRId64 "+%" PRId64 " fetch=%" PRId64 "/%" PRId64 " job=%d", r->pages,
             r->skipped, r->fetch_ms, r->fetch_ms_max, r->job > 0);
    pair_say(pair, s, " started=%" PRId64 " updated=%" PRId64 " ended=%" PRId64, r->started_ms, r->updated_ms,
             r->ended_ms);
    pair_say_text(pair, s, "error", str_absent(r->error) ? r->error : STR("some"));
}

static void say_partitions(struct world *w, int s) {
    struct pair *pair = &w->pair;
    struct partitions_filter filter = {.after_run = -1, .after_part = -1, .limit = 500};
    struct partition_list list;
    pawl_error err = {0};
    do {
        assert_int_equal(runs_of(w, s)->partitions(pair->store[s], &filter, pair->arena, &list, &err),
                         PAWL_OK);
        for (size_t i = 0; i < list.count; i++) {
            const struct partition_row *p = &list.partitions[i];
            pair_say(pair, s,
                     "\n part %d/%d state=%d paused=%d g=%d page=%" PRId64 " at=%" PRId64
                     " job=%d items=%" PRId64 "-%" PRId64 " pages=%" PRId64 "+%" PRId64,
                     run_number(w, s, p->run), p->part, (int)p->state, p->paused, p->generation, p->page,
                     p->offset, p->job > 0, p->items, p->repeats, p->pages, p->skipped);
            pair_say(pair, s, " fetch=%" PRId64 "/%" PRId64 "/%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
                     p->fetch_ms, p->fetch_ms_max, p->fetch_ms_last, p->started_ms, p->updated_ms,
                     p->ended_ms);
            pair_say_text(pair, s, "cursor", p->cursor);
            pair_say_text(pair, s, "error", str_absent(p->error) ? p->error : STR("some"));
            filter.after_run = p->run;
            filter.after_part = p->part;
        }
    } while (list.count == 500);
}

static void say_items(struct world *w, int s) {
    for (int run = w->made > 5 ? w->made - 5 : 0; run < w->made; run++) {
        struct items_filter filter = {.run = w->runs[s][run], .part = -1, .limit = 100};
        struct stored_items list;
        pawl_error err = {0};
        assert_int_equal(runs_of(w, s)->items(w->pair.store[s], &filter, w->pair.arena, &list, &err),
                         PAWL_OK);
        pair_say(&w->pair, s, "\n items of %d:", run);
        for (size_t i = 0; i < list.count; i++)
            pair_say(&w->pair, s, " %d/%.*s=%.*s", list.items[i].part, STR_ARG(list.items[i].key),
                     STR_ARG(list.items[i].payload));
    }
}

static void say_jobs(struct world *w, int s) {
    struct job_filter filter = {.limit = 500};
    struct job_rows rows;
    pawl_error err = {0};
    do {
        assert_int_equal(jobs_of(w, s)->jobs(w->pair.store[s], &filter, w->pair.arena, &rows, &err), PAWL_OK);
        for (size_t i = 0; i < rows.count; i++) {
            say_job(w, s, &rows.rows[i].job);
            pair_say(&w->pair, s, " state=%d reason=%d", (int)rows.rows[i].state, rows.rows[i].reason);
            filter.after_id = rows.rows[i].job.id;
        }
    } while (rows.count == 500);
}

static void say_state(void *world, int s) {
    struct world *w = world;
    struct runs_filter filter = {.limit = 500};
    struct run_list list;
    pawl_error err = {0};
    assert_int_equal(runs_of(w, s)->runs(w->pair.store[s], &filter, w->pair.arena, &list, &err), PAWL_OK);
    for (size_t i = 0; i < list.count; i++)
        say_run(w, s, &list.runs[i]);
    say_partitions(w, s);
    say_items(w, s);
    say_jobs(w, s);
}

static void instances(struct world *w) { pair_instances(&w->pair, KIND_BIT_JOBS); }

static void advance(struct world *w) {
    pair_advance(&w->pair, chance(w, 1)    ? INT64_C(31) * DAY_MS
                           : chance(w, 10) ? pick(w, 20000)
                                           : pick(w, 900));
}

static void operation(void *world) {
    static void (*const deeds[])(struct world * w) = {
        start,       claim,       claim,      claim,   commit_page, commit_page, commit_page,
        commit_page, commit_page, begin_page, report,  report,      people,      advance,
        copy_page,   jobs_ended,  instances,  advance, commit_page, claim};
    struct world *w = world;
    if (chance(w, 1))
        maintain(w);
    else
        deeds[pick(w, (int)(sizeof deeds / sizeof deeds[0]))](w);
}

static void begin(void *world) { start(world); }

/* covers: C40 B1.1 B1.3 B1.5 B1.6 B1.7 */
int main(void) {
    static const struct pair_game game = {.name = "differential runs",
                                          .world_bytes = sizeof(struct world),
                                          .kinds = KIND_BIT_JOBS,
                                          .begin = begin,
                                          .operation = operation,
                                          .say_state = say_state,
                                          .ops = 2000,
                                          .ops_per_world = 1000,
                                          .state_every = 10};
    return pair_main(&game);
}
