/* Bulk operations: their thread, their list and their routes. */
#include "server/bulk.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "server/http/call.h"
#include "server/http/route.h"
#include "server/server.h"

enum { STEP_ROWS = 200 };
enum bulk_state { BULK_WAITING, BULK_RUNNING, BULK_DONE, BULK_FAILED, BULK_CANCELLED };

struct bulk {
    struct pool_task pool_task; /* first */
    struct bulks *bulks;
    struct bulk *next; /* the latest first */
    pawl_uuid id;
    struct bulk_new what; /* texts in the arena */
    struct arena *arena;
    enum bulk_state state;
    int64_t seen, applied, refused;
    int64_t made_ms, started_ms, ended_ms; /* wall */
    char error[sizeof((pawl_error *)0)->text];
    atomic_bool cancel;
};

struct bulks {
    struct server *server;
    pthread_mutex_t lock;
    struct bulk *first;
};

const struct column bulk_columns[BULK_COLUMNS] = {
    {COLUMN(UUID, "id")},      {COLUMN(TEXT, "verb")}, {COLUMN(TEXT, "state")},
    {COLUMN(BOOL, "dry_run")}, {COLUMN(INT, "seen")},  {COLUMN(INT, "applied")},
    {COLUMN(INT, "refused")},  {COLUMN(INT, "total")}, {COLUMN(INT, "per_second")},
    {COLUMN(DURATION, "eta")}, {COLUMN(TIME, "made")}, {COLUMN(TIME, "started")},
    {COLUMN(TIME, "ended")},   {COLUMN(TEXT, "error")}};

static void bulk_free(struct bulk *bulk) {
    if (bulk == NULL)
        return;
    arena_free(bulk->arena);
    free(bulk);
}

struct bulks *bulks_new(struct server *server) {
    struct bulks *bulks = calloc(1, sizeof *bulks);
    if (bulks == NULL)
        return NULL;
    bulks->server = server;
    pthread_mutex_init(&bulks->lock, NULL);
    return bulks;
}

void bulks_free(struct bulks *bulks) {
    while (bulks != NULL && bulks->first != NULL) {
        struct bulk *bulk = bulks->first;
        bulks->first = bulk->next;
        bulk_free(bulk);
    }
    free(bulks);
}

void bulks_stop(struct bulks *bulks) {
    pthread_mutex_lock(&bulks->lock);
    for (struct bulk *one = bulks->first; one != NULL; one = one->next)
        atomic_store(&one->cancel, true);
    pthread_mutex_unlock(&bulks->lock);
}

/* ---- Showing: with the lock held */

static void cells_of(const struct bulk *bulk, struct cell cells[static BULK_COLUMNS]) {
    static const char *const verbs[] = {"",           "retry dead letters", "delete dead letters",
                                        "retry jobs", "delete jobs",        "cancel jobs"};
    static const char *const states[] = {"waiting", "running", "done", "failed", "cancelled"};
    int64_t until_ms = bulk->ended_ms != 0 ? bulk->ended_ms : clock_wall_ms();
    int64_t span_ms = bulk->started_ms != 0 ? until_ms - bulk->started_ms : 0;
    int64_t rate = span_ms > 0 ? bulk->seen * 1000 / span_ms : 0;
    int64_t total = bulk->what.total, left = total - bulk->seen;
    bool eta = bulk->state == BULK_RUNNING && total >= 0 && left >= 0 && rate > 0;
    const struct cell made[BULK_COLUMNS] = {cell_uuid(bulk->id),
                                            cell_cstr(verbs[bulk->what.verb]),
                                            cell_cstr(states[bulk->state]),
                                            cell_bool(bulk->what.dry_run),
                                            cell_int(bulk->seen),
                                            cell_int(bulk->applied),
                                            cell_int(bulk->refused),
                                            total >= 0 ? cell_int(total) : cell_none(),
                                            cell_int(rate),
                                            eta ? cell_duration(left * 1000 / rate) : cell_none(),
                                            cell_time(bulk->made_ms),
                                            cell_time(bulk->started_ms),
                                            cell_time(bulk->ended_ms),
                                            bulk->error[0] != '\0' ? cell_cstr(bulk->error) : cell_none()};
    memcpy(cells, made, sizeof made);
}

static pawl_status show(struct request *request, const struct bulk *bulk, pawl_error *err) {
    struct cell cells[BULK_COLUMNS];
    cells_of(bulk, cells);
    return request_record(request, bulk_columns, BULK_COLUMNS, cells, err);
}

/* ---- Running: in the thread of the background pool */

static void count(struct bulk *bulk, int64_t seen, int64_t applied, int64_t refused) {
    pthread_mutex_lock(&bulk->bulks->lock);
    bulk->seen += seen;
    bulk->applied += applied;
    bulk->refused += refused;
    pthread_mutex_unlock(&bulk->bulks->lock);
}

static int step_limit(const struct bulk *bulk) {
    int64_t left = bulk->what.max > 0 ? bulk->what.max - bulk->seen : STEP_ROWS;
    return (int)(left < STEP_ROWS ? left : STEP_ROWS);
}

static void count_answers(struct bulk *bulk, const enum store_answer *answers, size_t asked, int64_t seen) {
    int64_t applied = 0;
    for (size_t i = 0; answers != NULL && i < asked; i++)
        applied += answers[i] == ANSWER_APPLIED;
    if (bulk->what.dry_run)
        count(bulk, seen, 0, 0);
    else
        count(bulk, seen, applied, (int64_t)asked - applied);
}

/* A page of dead letters; parked ones follow the one they are waiting for. */
static pawl_status step_dead(struct bulk *bulk, struct store *store, struct arena *arena, bool *more,
                             pawl_error *err) {
    struct message_filter *filter = &bulk->what.messages;
    struct message_rows rows;
    struct answer_list answers = {.answers = NULL};
    struct dead_ref refs[STEP_ROWS];
    size_t asked = 0;
    filter->limit = step_limit(bulk);
    TRY(store->ops->view.messages(store, filter, arena, &rows, err));
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.rows[i].reason != DEAD_PARKED)
            refs[asked++] = (struct dead_ref){rows.rows[i].item.kind, rows.rows[i].item.seq};
    }
    filter->after_seq = rows.next_seq;
    *more = rows.next_seq > 0;
    if (asked > 0 && !bulk->what.dry_run)
        TRY(bulk->what.verb == BULK_REDRIVE_DEAD
                ? store->ops->core.dead_redrive(store, refs, asked, arena, &answers, err)
                : store->ops->core.dead_discard(store, refs, asked, arena, &answers, err));
    count_answers(bulk, answers.answers, asked, (int64_t)rows.count);
    return PAWL_OK;
}

static pawl_status step_jobs(struct bulk *bulk, struct store *store, struct arena *arena, bool *more,
                             pawl_error *err) {
    struct job_filter *filter = &bulk->what.jobs;
    struct job_rows rows;
    struct job_answers answers = {.answers = NULL};
    int64_t ids[STEP_ROWS];
    filter->limit = step_limit(bulk);
    TRY(store->ops->jobs->jobs(store, filter, arena, &rows, err));
    for (size_t i = 0; i < rows.count; i++)
        ids[i] = rows.rows[i].job.id;
    filter->after_id = rows.next_id;
    *more = rows.next_id > 0;
    if (rows.count > 0 && !bulk->what.dry_run)
        TRY(bulk->what.verb == BULK_CANCEL_JOBS
                ? store->ops->jobs->cancel(store, ids, rows.count, arena, &answers, err)
                : store->ops->jobs->redrive(store, ids, rows.count, bulk->what.verb == BULK_DISCARD_JOBS,
                                            arena, &answers, err));
    count_answers(bulk, answers.answers, rows.count, (int64_t)rows.count);
    return PAWL_OK;
}

/* Sleeps as long as the rate requires, a tenth of a second at a time. */
static void keep_rate(struct bulk *bulk, int64_t began_ms) {
    while (bulk->what.per_second > 0 && !atomic_load(&bulk->cancel)) {
        int64_t due_ms = began_ms + bulk->seen * 1000 / bulk->what.per_second;
        int64_t left_ms = due_ms - clock_boot_ms();
        if (left_ms <= 0)
            return;
        int64_t nap_ms = left_ms < 100 ? left_ms : 100;
        nanosleep(&(struct timespec){0, (long)nap_ms * 1000000}, NULL);
    }
}

static pawl_status steps(struct bulk *bulk, struct store *store, pawl_error *err) {
    struct arena *arena = arena_create(PAWL_HTTP_ARENA_BYTES_MAX);
    bool more = true;
    int64_t began_ms = clock_boot_ms();
    pawl_status status = arena != NULL ? PAWL_OK
                                       : error_set(err, PAWL_NO_MEMORY, "operation", "no memory for a page");
    while (status == PAWL_OK && more && !atomic_load(&bulk->cancel) && step_limit(bulk) > 0) {
        arena_reset(arena);
        status = bulk->what.verb <= BULK_DISCARD_DEAD ? step_dead(bulk, store, arena, &more, err)
                                                      : step_jobs(bulk, store, arena, &more, err);
        keep_rate(bulk, began_ms);
    }
    arena_free(arena);
    return status;
}

static void run(struct pool_task *pool_task, struct store *store, const pawl_error *opened) {
    struct bulk *bulk = (struct bulk *)pool_task;
    pthread_mutex_t *lock = &bulk->bulks->lock;
    pawl_error err = *opened;
    pthread_mutex_lock(lock);
    bulk->state = BULK_RUNNING;
    bulk->started_ms = clock_wall_ms();
    pthread_mutex_unlock(lock);
    pawl_status status = PAWL_UNAVAILABLE;
    if (store != NULL)
        status = steps(bulk, store, &err);
    pthread_mutex_lock(lock);
    bulk->ended_ms = clock_wall_ms();
    bulk->state = status != PAWL_OK ? BULK_FAILED : atomic_load(&bulk->cancel) ? BULK_CANCELLED : BULK_DONE;
    if (status != PAWL_OK)
        snprintf(bulk->error, sizeof bulk->error, "%s", err.text);
    pthread_mutex_unlock(lock);
    server_hand_back(bulk->bulks->server, pool_task);
}

static void done(struct pool_task *pool_task) { (void)pool_task; /* it stays in the list */ }

/* ---- Starting */

/* Forgets the oldest ended ones; false if too many are waiting. With the lock held. */
static bool make_room(struct bulks *bulks) {
    size_t seen = 0, waiting = 0;
    for (struct bulk **at = &bulks->first; *at != NULL;) {
        struct bulk *bulk = *at;
        bool ended = bulk->state >= BULK_DONE;
        waiting += !ended;
        if (++seen > PAWL_HTTP_OPERATIONS_KEPT && ended) {
            *at = bulk->next;
            bulk_free(bulk);
        } else {
            at = &bulk->next;
        }
    }
    return waiting < PAWL_HTTP_OPERATIONS_MAX;
}

static pawl_status copy_texts(struct bulk *bulk, pawl_error *err) {
    struct message_filter *messages = &bulk->what.messages;
    struct job_filter *jobs = &bulk->what.jobs;
    pawl_str *texts[] = {&messages->stream, &messages->type, &messages->topic, &messages->fingerprint,
                         &jobs->queue,      &jobs->task,     &jobs->type,      &jobs->key,
                         &jobs->fingerprint};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        TRY(str_dup(bulk->arena, *texts[i], texts[i], err));
    return PAWL_OK;
}

pawl_status bulk_start(struct request *request, const struct bulk_new *in, pawl_error *err) {
    struct call *call = call_of(request);
    struct bulks *bulks = call->server->bulks;
    struct bulk *bulk = calloc(1, sizeof *bulk);
    if (bulk == NULL || (bulk->arena = arena_create(PAWL_ARENA_CHUNK_BYTES)) == NULL) {
        free(bulk);
        return error_set(err, PAWL_NO_MEMORY, "operation", "no memory for an operation");
    }
    bulk->bulks = bulks;
    bulk->what = *in;
    bulk->pool_task.run = run;
    bulk->pool_task.done = done;
    bulk->made_ms = clock_wall_ms();
    pawl_status status = copy_texts(bulk, err);
    if (status == PAWL_OK)
        status = uuid_next(&bulk->id, err);
    if (status != PAWL_OK) {
        bulk_free(bulk);
        return status;
    }
    pthread_mutex_lock(&bulks->lock);
    bool room = make_room(bulks);
    if (room) {
        bulk->next = bulks->first;
        bulks->first = bulk;
        status = show(request, bulk, err);
    }
    pthread_mutex_unlock(&bulks->lock);
    if (!room) {
        bulk_free(bulk);
        return error_set(err, PAWL_BUSY, "operation",
                         "%d operations wait already: let some of them end first", PAWL_HTTP_OPERATIONS_MAX);
    }
    char id[UUID_TEXT_BYTES];
    call->location = arena_printf(call->arena, "/v1/operations/%s", uuid_format(bulk->id, id));
    store_pool_put(&call->server->bulk_pool, &bulk->pool_task);
    return status;
}

/* ---- Routes */

static pawl_status list(struct request *request, pawl_error *err) {
    struct bulks *bulks = call_of(request)->server->bulks;
    request_list(request, bulk_columns, BULK_COLUMNS);
    pthread_mutex_lock(&bulks->lock);
    for (const struct bulk *one = bulks->first; one != NULL; one = one->next) {
        struct cell cells[BULK_COLUMNS];
        cells_of(one, cells);
        request_row(request, cells);
    }
    pthread_mutex_unlock(&bulks->lock);
    return request_list_end(request, NULL, err);
}

static pawl_status on_one(struct request *request, bool cancel, pawl_error *err) {
    struct bulks *bulks = call_of(request)->server->bulks;
    pawl_uuid id = request_value(request, "id").uuid;
    pawl_status status = PAWL_OK;
    pthread_mutex_lock(&bulks->lock);
    struct bulk *one = bulks->first;
    while (one != NULL && !uuid_equal(one->id, id))
        one = one->next;
    if (one != NULL && cancel)
        atomic_store(&one->cancel, true);
    if (one != NULL)
        status = show(request, one, err);
    pthread_mutex_unlock(&bulks->lock);
    if (one != NULL)
        return status;
    return error_set(err, PAWL_NOT_FOUND, "operation",
                     "there is no operation %.*s; those that ended are kept until the server restarts",
                     STR_ARG(request_text(request, "id")));
}

static pawl_status read_one(struct request *request, pawl_error *err) { return on_one(request, false, err); }
static pawl_status cancel_one(struct request *request, pawl_error *err) { return on_one(request, true, err); }

static const struct field id_fields[] = {
    {FIELD(FIELD_UUID, IN_PATH, "id", "The id of the operation."), .required = true}};

static const struct operation routes[] = {
    {OPERATION("operation.list", "List bulk operations with their progress, newest first"),
     READS("/v1/operations"), .pool = POOL_LOOP, COLUMNS(bulk_columns), .run = list},
    {OPERATION("operation.show", "The progress of one operation"), READS("/v1/operations/{id}"),
     .pool = POOL_LOOP, FIELDS(id_fields), .shape = ANSWER_RECORD, COLUMNS(bulk_columns), .run = read_one},
    {OPERATION("operation.cancel", "Stop an operation; what it has done stays done"),
     ACTS(METHOD_POST, "/v1/operations/{id}/cancel"), FIELDS(id_fields), .shape = ANSWER_RECORD,
     COLUMNS(bulk_columns), .run = cancel_one},
};

const struct operation_table bulk_routes = OPERATION_TABLE(routes);
