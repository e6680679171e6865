/* Runs of pages: who starts them, what their jobs do, and what the checker is told of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sim/world/world.h"
#include "work/job_result.h"
#include "work/run/page_job.h"

enum { NAME_BYTES = 24, PAGE_ITEMS_MAX = 4, COMMIT_TRIES = 6, ITEMS_SHOWN = 200 };

struct start_data {
    int run;
    struct run_start in;
    struct partition_new parts[HISTORY_PARTS_MAX];
    char key[NAME_BYTES], names[HISTORY_PARTS_MAX][NAME_BYTES];
};

static struct sim_run *run_of(struct world *world, int64_t id) {
    for (int i = 0; i < world->swarm.kinds_on.runs; i++) {
        if (world->kinds.runs[i].history.id == id)
            return &world->kinds.runs[i];
    }
    return NULL;
}

static pawl_status execute_start(struct world *world, struct wire *wire, struct delivery *delivery) {
    struct start_data *data = wire->data;
    struct run_started out = {0};
    (void)delivery;
    pawl_status status = world->store->ops->runs->start(world->store, &data->in, &out, &wire->error);
    if (status != PAWL_OK)
        return status;
    struct history_run_of_pages *run = &world->kinds.runs[data->run].history;
    world_note(world, "run start", data->run, out.id, (int64_t)out.answer);
    if (out.answer == ANSWER_APPLIED && run->id != 0)
        history_violated(&world->history, "run_once", "run %d was started twice", data->run);
    if (out.answer == ANSWER_DUPLICATE && run->id != out.id)
        history_violated(&world->history, "run_once", "run %d is a duplicate of another", data->run);
    run->id = out.id;
    return PAWL_OK;
}

static const struct wire_call start_call = {"run start", execute_start, outside_reply};

static void start(struct world *world, const struct occasion *occasion) {
    struct wire *wire = wire_call_new(world, -1, &start_call, sizeof(struct start_data));
    struct start_data *data = wire->data;
    struct sim_run *run = &world->kinds.runs[occasion->number];
    struct history_run_of_pages *h = &run->history;
    data->run = (int)occasion->number;
    (void)snprintf(data->key, NAME_BYTES, "the-run-%d", data->run);
    for (int i = 0; i < h->parts; i++) {
        (void)snprintf(data->names[i], NAME_BYTES, "part-%d", i);
        data->parts[i] = (struct partition_new){.name = str_from(data->names[i]), .total = -1};
    }
    data->in = (struct run_start){.name = STR("run"),
                                  .key = str_from(data->key),
                                  .type = STR("page"),
                                  .consolidate = STR("fan"),
                                  .page_size = h->page_size,
                                  .concurrency = run->concurrency,
                                  .max_attempts = world->swarm.max_attempts,
                                  .end = END_SHORT_PAGE,
                                  .policy = h->partial ? FAILED_PARTIAL : FAILED_WAIT,
                                  .partitions = data->parts,
                                  .count = (size_t)h->parts};
    world->kinds.runs_left--;
    world->kinds.calls_open++;
    wire_call_send(world, wire, 0);
}

void sim_runs_begin(struct world *world) {
    world->kinds.runs_left = world->swarm.kinds_on.runs;
    for (int i = 0; i < world->swarm.kinds_on.runs; i++) {
        struct sim_run *run = &world->kinds.runs[i];
        run->concurrency = rng_chance(&world->rng, 5000) ? (int)rng_range(&world->rng, 1, 2) : 0;
        run->history =
            (struct history_run_of_pages){.parts = (int)rng_range(&world->rng, 1, HISTORY_PARTS_MAX),
                                          .page_size = (int)rng_range(&world->rng, 1, PAGE_ITEMS_MAX),
                                          .partial = rng_chance(&world->rng, 4000)};
        for (int k = 0; k < run->history.parts; k++) {
            run->history.part[k] =
                (struct history_part){.items = (int)rng_range(&world->rng, 0, 8), .state = PART_ACTIVE};
        }
        world->kinds.jobs.limit[KINDS_RUNS + i] = run->concurrency;
        world_push(
            world, rng_range(&world->rng, 0, 2000),
            (struct occasion){.what = HAPPENS_THEN, .worker = -1, .number = (uint64_t)i, .then = start});
    }
}

/* A number at the top of a payload. */
static int64_t number_in(pawl_str payload, const char *name) {
    const char *at = memmem(payload.ptr, payload.len, name, strlen(name));
    return at != NULL ? strtoll(at + strlen(name), NULL, 10) : 0;
}

/* Jobs of runs are first heard of when they are granted or shown. */
void sim_runs_meet(struct world *world, const struct job *job) {
    bool page = str_equal_cstr(job->type, "page"), fan = str_equal_cstr(job->type, "fan");
    if ((!page && !fan) || history_job(&world->kinds.jobs, job->id)->at != AT_UNKNOWN)
        return;
    struct sim_run *run = run_of(world, number_in(job->payload, "\"run\":"));
    if (run == NULL) {
        history_violated(&world->history, "run_once", "job %lld is of no run", (long long)job->id);
        return;
    }
    int at = (int)(run - world->kinds.runs);
    struct history_job_new told = {.key = page && run->concurrency > 0 ? KINDS_RUNS + at : -1,
                                   .unique = -1,
                                   .max_attempts = job->max_attempts,
                                   .due_ms = -1,
                                   .now_ms = world_db_ms(world),
                                   .of_run = true};
    history_job_put(&world->kinds.jobs, job->id, &told);
    struct sim_job *row = sim_job(world, job->id);
    row->kind = page ? SIM_JOB_PAGE : SIM_JOB_FAN;
    row->waits_left = row->snoozes_left = 0;
    if (row->nature == NATURE_POISON)
        row->nature = NATURE_FLAKY;
    row->run = at;
    if (fan)
        history_fan_in(&world->history, &run->history, (int)number_in(job->payload, "\"round\":"), job->id);
}

/* A page on its way through its slot. */
struct page_data {
    int slot;
    uint64_t number; /* of the slot's occasion */
    struct page_commit commit;
    char keys[PAGE_ITEMS_MAX][NAME_BYTES];
    struct run_item items[PAGE_ITEMS_MAX];
    int tries;
};

static pawl_status execute_page_begin(struct world *world, struct wire *wire, struct delivery *delivery) {
    struct page_data *data = wire->data;
    struct page *out = arena_alloc(delivery->arena, sizeof(*out));
    if (out == NULL)
        abort();
    *out = (struct page){0};
    delivery->answer = out;
    pawl_status status = world->store->ops->runs->page_begin(world->store, &data->commit.ref, delivery->arena,
                                                             out, &wire->error);
    if (status == PAWL_OK && out->answer == ANSWER_APPLIED && out->outcome == PAGE_SKIPPED)
        history_job_settled(&world->kinds.jobs, data->commit.ref.job.id, data->commit.ref.job.token, AT_DONE);
    return status;
}

static pawl_status execute_page_commit(struct world *world, struct wire *wire, struct delivery *delivery) {
    struct page_data *data = wire->data;
    struct page_result *out = arena_alloc(delivery->arena, sizeof(*out));
    if (out == NULL)
        abort();
    *out = (struct page_result){0};
    delivery->answer = out;
    pawl_status status =
        world->store->ops->runs->page_commit(world->store, &data->commit, delivery->arena, out, &wire->error);
    if (status != PAWL_OK)
        return status;
    mutant_after_call(world, wire, delivery);
    const struct page_ref *ref = &data->commit.ref;
    world_note(world, "page", ref->job.id, ref->page, (int64_t)out->outcome * 10 + (int64_t)out->answer);
    if (out->answer != ANSWER_APPLIED)
        return PAWL_OK;
    history_job_settled(&world->kinds.jobs, ref->job.id, ref->job.token,
                        out->outcome == PAGE_FAILED ? AT_DEAD : AT_DONE);
    struct sim_run *run = run_of(world, ref->run);
    if (run != NULL)
        history_page(&world->history, &run->history, &data->commit, out);
    return PAWL_OK;
}

static void reply_page_begin(struct world *world, struct wire *wire) {
    const struct page_data *data = wire->data;
    const struct page *page = wire->status == PAWL_OK ? wire->delivery->answer : NULL;
    enum job_end end = page == NULL                     ? JOB_END_NOT_RUN
                       : page->answer != ANSWER_APPLIED ? JOB_END_SETTLED
                       : page->outcome == PAGE_SKIPPED  ? JOB_END_SETTLED
                                                        : JOB_END_DONE;
    job_slot_page(world, wire->worker, data->slot, data->number, end, page != NULL ? page->offset : 0);
}

static void reply_page_commit(struct world *world, struct wire *wire) {
    struct page_data *data = wire->data;
    bool passes = wire->status == PAWL_UNAVAILABLE || wire->status == PAWL_UNKNOWN;
    if (passes && ++data->tries < COMMIT_TRIES) {
        wire_call_send(world, wire, INT64_C(50) << (data->tries < 4 ? data->tries : 4));
        return;
    }
    job_slot_page(world, wire->worker, data->slot, data->number,
                  wire->status == PAWL_OK      ? JOB_END_SETTLED
                  : wire->status == PAWL_STALE ? JOB_END_CANCELLED
                                               : JOB_END_RETRY,
                  0);
}

const struct wire_call page_begin_call = {"page begin", execute_page_begin, reply_page_begin};
const struct wire_call page_commit_call = {"page commit", execute_page_commit, reply_page_commit};

static struct wire *page_wire(struct world *world, int index, const struct wire_call *call,
                              const struct sim_page *page) {
    struct wire *wire = wire_call_new(world, index, call, sizeof(struct page_data));
    struct page_data *data = wire->data;
    pawl_error error;
    data->slot = page->slot;
    data->number = page->number;
    world_must(world, page_job_ref(page->job, wire->arena, &data->commit.ref, &error), &error, "page");
    data->commit.ref.instance = page->instance;
    return wire;
}

void sim_page_begin(struct world *world, int index, const struct sim_page *page) {
    wire_call_send(world, page_wire(world, index, &page_begin_call, page), 0);
}

/* The items of a page follow from where it begins. */
void sim_page_commit(struct world *world, int index, const struct sim_page *page) {
    struct wire *wire = page_wire(world, index, &page_commit_call, page);
    struct page_data *data = wire->data;
    const struct sim_run *run = run_of(world, data->commit.ref.run);
    int left = run->history.part[data->commit.ref.part].items - (int)page->offset;
    int count = left < run->history.page_size ? left : run->history.page_size;
    for (int i = 0; i < count; i++) {
        (void)snprintf(data->keys[i], NAME_BYTES, "item-%d-%lld", data->commit.ref.part,
                       (long long)page->offset + i);
        data->items[i] = (struct run_item){str_from(data->keys[i]), STR("1")};
    }
    data->commit.items = data->items;
    data->commit.count = count > 0 ? (size_t)count : 0;
    wire_call_send(world, wire, 0);
}

static bool read_run(struct world *world, int64_t id, struct arena *arena, struct run_row *row) {
    struct runs_filter filter = {.id = id, .limit = 1};
    struct run_list list = {0};
    pawl_error error;
    if (id == 0)
        return false;
    world_must(world, world->store->ops->runs->runs(world->store, &filter, arena, &list, &error), &error,
               "runs");
    if (list.count == 1)
        *row = list.runs[0];
    return list.count == 1;
}

/* Repairs what failed, and now and then pauses or cancels. */
static void operate(struct world *world, struct sim_run *run, struct arena *arena) {
    const struct store_runs_ops *ops = world->store->ops->runs;
    struct partitions_filter filter = {
        .run = run->history.id, .after_run = -1, .after_part = -1, .limit = 10};
    struct partition_list parts = {0};
    struct run_row row;
    struct run_retried retried;
    enum store_answer answer;
    pawl_error error;
    if (!read_run(world, run->history.id, arena, &row))
        return;
    world_must(world, ops->partitions(world->store, &filter, arena, &parts, &error), &error, "partitions");
    history_run_seen(&world->history, &run->history, &row, &parts);
    if (row.state == RUN_IS_IN_REPAIR && (world->healed || world_strikes(world, FAULT_REDRIVE))) {
        world_must(world, ops->retry(world->store, &(struct run_retry){row.id, -1}, &retried, &error), &error,
                   "retry");
        world_note(world, "run retry", row.id, (int64_t)retried.answer, retried.count);
    }
    bool open = row.state == RUN_IS_RUNNING;
    if (open && (row.paused ? world->healed || rng_chance(&world->rng, 5000)
                            : world_strikes(world, FAULT_CANCEL) && rng_chance(&world->rng, 3000))) {
        world_must(world, ops->pause(world->store, row.id, !row.paused, &answer, &error), &error, "pause");
        world_note(world, "run pause", row.id, !row.paused, (int64_t)answer);
    } else if (open && !world->healed && world->swarm.chance[FAULT_CANCEL] > 0 &&
               rng_chance(&world->rng, 100)) {
        world_must(world, ops->cancel(world->store, row.id, &answer, &error), &error, "cancel run");
        world_note(world, "run cancel", row.id, (int64_t)answer, 0);
        run->history.cancelled = true;
    }
}

void sim_runs_operate(struct world *world) {
    struct arena *arena = arena_create(0);
    for (int i = 0; i < world->swarm.kinds_on.runs && !world->history.violated; i++)
        operate(world, &world->kinds.runs[i], arena);
    arena_free(arena);
}

bool sim_runs_drained(struct world *world) {
    struct arena *arena = arena_create(0);
    bool over = world->kinds.runs_left == 0;
    for (int i = 0; i < world->swarm.kinds_on.runs && over; i++) {
        struct run_row row;
        over = read_run(world, world->kinds.runs[i].history.id, arena, &row) &&
               (row.state == RUN_IS_COMPLETED || row.state == RUN_IS_FAILED || row.state == RUN_IS_CANCELLED);
    }
    arena_free(arena);
    return over;
}

void sim_runs_end(struct world *world) {
    struct arena *arena = arena_create(0);
    for (int i = 0; i < world->swarm.kinds_on.runs && !world->history.violated; i++) {
        struct history_run_of_pages *run = &world->kinds.runs[i].history;
        struct items_filter filter = {.run = run->id, .part = -1, .limit = ITEMS_SHOWN};
        struct stored_items items = {0};
        struct run_row row;
        pawl_error error;
        if (!read_run(world, run->id, arena, &row)) {
            history_violated(&world->history, "run_ended", "run %d is gone", i);
            continue;
        }
        world_must(world, world->store->ops->runs->items(world->store, &filter, arena, &items, &error),
                   &error, "items");
        history_run_end(&world->history, run, &row, &items);
    }
    arena_free(arena);
}
