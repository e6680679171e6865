/* Bulk operations: their thread, their list and their routes. */
#include "server/operation.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "server/api/fields.h"
#include "server/server.h"

enum { STEP_ROWS = 200 };
enum operation_state {
    OPERATION_WAITING,
    OPERATION_RUNNING,
    OPERATION_DONE,
    OPERATION_FAILED,
    OPERATION_CANCELLED
};

struct operation {
    struct pool_task pool_task; /* first */
    struct operations *operations;
    struct operation *next; /* the latest first */
    pawl_uuid id;
    struct operation_new what; /* texts in the arena */
    struct arena *arena;
    enum operation_state state;
    int64_t seen, applied, refused;
    int64_t made_ms, started_ms, ended_ms; /* wall */
    char error[sizeof((pawl_error *)0)->text];
    atomic_bool cancel;
};

struct operations {
    struct server *server;
    pthread_mutex_t lock;
    struct operation *first;
};

const struct column operation_columns[OPERATION_COLUMNS] = {
    {COLUMN(UUID, "id")},      {COLUMN(TEXT, "verb")}, {COLUMN(TEXT, "state")},
    {COLUMN(BOOL, "dry_run")}, {COLUMN(INT, "seen")},  {COLUMN(INT, "applied")},
    {COLUMN(INT, "refused")},  {COLUMN(INT, "total")}, {COLUMN(INT, "per_second")},
    {COLUMN(DURATION, "eta")}, {COLUMN(TIME, "made")}, {COLUMN(TIME, "started")},
    {COLUMN(TIME, "ended")},   {COLUMN(TEXT, "error")}};

static void operation_free(struct operation *operation) {
    if (operation == NULL)
        return;
    arena_free(operation->arena);
    free(operation);
}

struct operations *operations_new(struct server *server) {
    struct operations *operations = calloc(1, sizeof *operations);
    if (operations == NULL)
        return NULL;
    operations->server = server;
    pthread_mutex_init(&operations->lock, NULL);
    return operations;
}

void operations_free(struct operations *operations) {
    while (operations != NULL && operations->first != NULL) {
        struct operation *operation = operations->first;
        operations->first = operation->next;
        operation_free(operation);
    }
    free(operations);
}

void operations_stop(struct operations *operations) {
    pthread_mutex_lock(&operations->lock);
    for (struct operation *one = operations->first; one != NULL; one = one->next)
        atomic_store(&one->cancel, true);
    pthread_mutex_unlock(&operations->lock);
}

/* ---- Showing: with the lock held */

static void cells_of(const struct operation *operation, struct cell cells[static OPERATION_COLUMNS]) {
    static const char *const verbs[] = {"",           "redrive dead letters", "discard dead letters",
                                        "retry jobs", "discard jobs",         "cancel jobs"};
    static const char *const states[] = {"waiting", "running", "done", "failed", "cancelled"};
    int64_t until_ms = operation->ended_ms != 0 ? operation->ended_ms : clock_wall_ms();
    int64_t span_ms = operation->started_ms != 0 ? until_ms - operation->started_ms : 0;
    int64_t rate = span_ms > 0 ? operation->seen * 1000 / span_ms : 0;
    int64_t total = operation->what.total, left = total - operation->seen;
    bool eta = operation->state == OPERATION_RUNNING && total >= 0 && left >= 0 && rate > 0;
    const struct cell made[OPERATION_COLUMNS] = {cell_uuid(operation->id),
                                                 cell_cstr(verbs[operation->what.verb]),
                                                 cell_cstr(states[operation->state]),
                                                 cell_bool(operation->what.dry_run),
                                                 cell_int(operation->seen),
                                                 cell_int(operation->applied),
                                                 cell_int(operation->refused),
                                                 total >= 0 ? cell_int(total) : cell_none(),
                                                 cell_int(rate),
                                                 eta ? cell_duration(left * 1000 / rate) : cell_none(),
                                                 cell_time(operation->made_ms),
                                                 cell_time(operation->started_ms),
                                                 cell_time(operation->ended_ms),
                                                 operation->error[0] != '\0' ? cell_cstr(operation->error)
                                                                             : cell_none()};
    memcpy(cells, made, sizeof made);
}

static void show(struct call *call, const struct operation *operation) {
    struct cell cells[OPERATION_COLUMNS];
    cells_of(operation, cells);
    call_cells(call, operation_columns, OPERATION_COLUMNS, cells);
}

/* ---- Running: in the thread of the background pool */

static void count(struct operation *operation, int64_t seen, int64_t applied, int64_t refused) {
    pthread_mutex_lock(&operation->operations->lock);
    operation->seen += seen;
    operation->applied += applied;
    operation->refused += refused;
    pthread_mutex_unlock(&operation->operations->lock);
}

static int step_limit(const struct operation *operation) {
    int64_t left = operation->what.max > 0 ? operation->what.max - operation->seen : STEP_ROWS;
    return (int)(left < STEP_ROWS ? left : STEP_ROWS);
}

static void count_answers(struct operation *operation, const enum store_answer *answers, size_t asked,
                          int64_t seen) {
    int64_t applied = 0;
    for (size_t i = 0; answers != NULL && i < asked; i++)
        applied += answers[i] == ANSWER_APPLIED;
    if (operation->what.dry_run)
        count(operation, seen, 0, 0);
    else
        count(operation, seen, applied, (int64_t)asked - applied);
}

/* A page of dead letters; parked ones follow the one they are waiting for. */
static pawl_status step_dead(struct operation *operation, struct store *store, struct arena *arena,
                             bool *more, pawl_error *err) {
    struct message_filter *filter = &operation->what.messages;
    struct message_rows rows;
    struct answer_list answers = {.answers = NULL};
    struct dead_ref refs[STEP_ROWS];
    size_t asked = 0;
    filter->limit = step_limit(operation);
    pawl_status status = store->ops->view.messages(store, filter, arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.rows[i].reason != DEAD_PARKED)
            refs[asked++] = (struct dead_ref){rows.rows[i].item.kind, rows.rows[i].item.seq};
    }
    filter->after_seq = rows.next_seq;
    *more = rows.next_seq > 0;
    if (asked > 0 && !operation->what.dry_run)
        status = operation->what.verb == OPERATION_REDRIVE_DEAD
                     ? store->ops->core.dead_redrive(store, refs, asked, arena, &answers, err)
                     : store->ops->core.dead_discard(store, refs, asked, arena, &answers, err);
    if (status == PAWL_OK)
        count_answers(operation, answers.answers, asked, (int64_t)rows.count);
    return status;
}

static pawl_status step_jobs(struct operation *operation, struct store *store, struct arena *arena,
                             bool *more, pawl_error *err) {
    struct job_filter *filter = &operation->what.jobs;
    struct job_rows rows;
    struct job_answers answers = {.answers = NULL};
    int64_t ids[STEP_ROWS];
    filter->limit = step_limit(operation);
    pawl_status status = store->ops->jobs->jobs(store, filter, arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < rows.count; i++)
        ids[i] = rows.rows[i].job.id;
    filter->after_id = rows.next_id;
    *more = rows.next_id > 0;
    if (rows.count > 0 && !operation->what.dry_run)
        status = operation->what.verb == OPERATION_CANCEL_JOBS
                     ? store->ops->jobs->cancel(store, ids, rows.count, arena, &answers, err)
                     : store->ops->jobs->redrive(store, ids, rows.count,
                                                 operation->what.verb == OPERATION_DISCARD_JOBS, arena,
                                                 &answers, err);
    if (status == PAWL_OK)
        count_answers(operation, answers.answers, rows.count, (int64_t)rows.count);
    return status;
}

/* Sleeps as long as the rate requires, a tenth of a second at a time. */
static void keep_rate(struct operation *operation, int64_t began_ms) {
    while (operation->what.per_second > 0 && !atomic_load(&operation->cancel)) {
        int64_t due_ms = began_ms + operation->seen * 1000 / operation->what.per_second;
        int64_t left_ms = due_ms - clock_boot_ms();
        if (left_ms <= 0)
            return;
        int64_t nap_ms = left_ms < 100 ? left_ms : 100;
        nanosleep(&(struct timespec){0, (long)nap_ms * 1000000}, NULL);
    }
}

static pawl_status steps(struct operation *operation, struct store *store, pawl_error *err) {
    struct arena *arena = arena_create(PAWL_HTTP_ARENA_BYTES_MAX);
    bool more = true;
    int64_t began_ms = clock_boot_ms();
    pawl_status status = arena != NULL ? PAWL_OK
                                       : error_set(err, PAWL_NO_MEMORY, "operation", "no memory for a page");
    while (status == PAWL_OK && more && !atomic_load(&operation->cancel) && step_limit(operation) > 0) {
        arena_reset(arena);
        status = operation->what.verb <= OPERATION_DISCARD_DEAD
                     ? step_dead(operation, store, arena, &more, err)
                     : step_jobs(operation, store, arena, &more, err);
        keep_rate(operation, began_ms);
    }
    arena_free(arena);
    return status;
}

static void run(struct pool_task *pool_task, struct store *store, const pawl_error *opened) {
    struct operation *operation = (struct operation *)pool_task;
    pthread_mutex_t *lock = &operation->operations->lock;
    pawl_error err = *opened;
    pthread_mutex_lock(lock);
    operation->state = OPERATION_RUNNING;
    operation->started_ms = clock_wall_ms();
    pthread_mutex_unlock(lock);
    pawl_status status = PAWL_UNAVAILABLE;
    if (store != NULL)
        status = steps(operation, store, &err);
    pthread_mutex_lock(lock);
    operation->ended_ms = clock_wall_ms();
    operation->state = status != PAWL_OK                 ? OPERATION_FAILED
                       : atomic_load(&operation->cancel) ? OPERATION_CANCELLED
                                                         : OPERATION_DONE;
    if (status != PAWL_OK)
        snprintf(operation->error, sizeof operation->error, "%s", err.text);
    pthread_mutex_unlock(lock);
    server_hand_back(operation->operations->server, pool_task);
}

static void done(struct pool_task *pool_task) { (void)pool_task; /* it stays in the list */ }

/* ---- Starting */

/* Forgets the oldest ended ones; false if too many are waiting. With the lock held. */
static bool make_room(struct operations *operations) {
    size_t seen = 0, waiting = 0;
    for (struct operation **at = &operations->first; *at != NULL;) {
        struct operation *operation = *at;
        bool ended = operation->state >= OPERATION_DONE;
        waiting += !ended;
        if (++seen > PAWL_HTTP_OPERATIONS_KEPT && ended) {
            *at = operation->next;
            operation_free(operation);
        } else {
            at = &operation->next;
        }
    }
    return waiting < PAWL_HTTP_OPERATIONS_MAX;
}

static pawl_status copy_texts(struct operation *operation, pawl_error *err) {
    struct message_filter *messages = &operation->what.messages;
    struct job_filter *jobs = &operation->what.jobs;
    pawl_str *texts[] = {&messages->stream, &messages->type, &messages->topic, &messages->fingerprint,
                         &jobs->queue,      &jobs->task,     &jobs->type,      &jobs->key,
                         &jobs->fingerprint};
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < sizeof texts / sizeof *texts; i++)
        status = str_dup(operation->arena, *texts[i], texts[i], err);
    return status;
}

pawl_status operation_start(struct call *call, const struct operation_new *in, pawl_error *err) {
    struct operations *operations = call->server->operations;
    struct operation *operation = calloc(1, sizeof *operation);
    if (operation == NULL || (operation->arena = arena_create(PAWL_ARENA_CHUNK_BYTES)) == NULL) {
        free(operation);
        return error_set(err, PAWL_NO_MEMORY, "operation", "no memory for an operation");
    }
    operation->operations = operations;
    operation->what = *in;
    operation->pool_task.run = run;
    operation->pool_task.done = done;
    operation->made_ms = clock_wall_ms();
    pawl_status status = copy_texts(operation, err);
    if (status == PAWL_OK)
        status = uuid_next(&operation->id, err);
    if (status != PAWL_OK) {
        operation_free(operation);
        return status;
    }
    pthread_mutex_lock(&operations->lock);
    bool room = make_room(operations);
    if (room) {
        operation->next = operations->first;
        operations->first = operation;
        show(call, operation);
    }
    pthread_mutex_unlock(&operations->lock);
    if (!room) {
        operation_free(operation);
        return error_set(err, PAWL_BUSY, "operation",
                         "%d operations wait already: let some of them end first", PAWL_HTTP_OPERATIONS_MAX);
    }
    char id[UUID_TEXT_BYTES];
    call->location = arena_printf(call->arena, "/v1/operations/%s", uuid_format(operation->id, id));
    store_pool_put(&call->server->bulk_pool, &operation->pool_task);
    return PAWL_OK;
}

/* ---- Routes */

static pawl_status list(struct call *call, pawl_error *err) {
    struct operations *operations = call->server->operations;
    call_list(call);
    pthread_mutex_lock(&operations->lock);
    for (const struct operation *one = operations->first; one != NULL; one = one->next)
        show(call, one);
    pthread_mutex_unlock(&operations->lock);
    return call_list_end(call, NULL, err);
}

static pawl_status on_one(struct call *call, bool cancel, pawl_error *err) {
    struct operations *operations = call->server->operations;
    pawl_uuid id = call_value(call, "id")->uuid;
    pthread_mutex_lock(&operations->lock);
    struct operation *one = operations->first;
    while (one != NULL && !uuid_equal(one->id, id))
        one = one->next;
    if (one != NULL && cancel)
        atomic_store(&one->cancel, true);
    if (one != NULL)
        show(call, one);
    pthread_mutex_unlock(&operations->lock);
    if (one != NULL)
        return PAWL_OK;
    return error_set(err, PAWL_NOT_FOUND, "operation",
                     "there is no operation %.*s; those that ended are kept until the server restarts",
                     STR_ARG(call_text(call, "id")));
}

static pawl_status read_one(struct call *call, pawl_error *err) { return on_one(call, false, err); }
static pawl_status cancel_one(struct call *call, pawl_error *err) { return on_one(call, true, err); }

static const struct field id_fields[] = {
    {FIELD(FIELD_UUID, IN_PATH, "id", "The id of the operation."), .required = true}};

static const struct route routes[] = {
    {READS("/v1/operations", "listOperations"), .tag = "operations", .pool = POOL_LOOP,
     .summary = "List bulk operations with their progress, newest first", COLUMNS(operation_columns),
     .run = list},
    {READS("/v1/operations/{id}", "readOperation"), .tag = "operations", .pool = POOL_LOOP,
     .summary = "The progress of one operation", FIELDS(id_fields), .shape = ANSWER_RECORD,
     COLUMNS(operation_columns), .run = read_one},
    {ACTS(METHOD_POST, "/v1/operations/{id}/cancel", "cancelOperation"), .tag = "operations",
     .summary = "Stop an operation; what it has done stays done", FIELDS(id_fields), .shape = ANSWER_RECORD,
     COLUMNS(operation_columns), .run = cancel_one},
};

const struct route_table operation_routes = ROUTE_TABLE(routes);
