/* The doctor in the background: its routes and its last report. */
#include "server/checkup.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/time/clock.h"
#include "operations/fleet/fleet.h"
#include "server/http/call.h"
#include "server/server.h"
#include "work/doctor/doctor.h"

enum checkup_state { CHECKUP_NEVER, CHECKUP_DONE, CHECKUP_FAILED };

struct checkup {
    struct pool_task pool_task; /* first: the pool gives it back */
    struct server *server;
    pthread_mutex_t lock; /* of what follows */
    bool looking;
    enum checkup_state state; /* of the last examination */
    int64_t looked_ms, took_ms;
    struct doctor_report report;
    char error[sizeof((pawl_error *)0)->text];
    struct arena *arena; /* of the report */
};

struct checkup *checkup_new(struct server *server) {
    struct checkup *checkup = calloc(1, sizeof *checkup);
    if (checkup == NULL)
        return NULL;
    checkup->server = server;
    pthread_mutex_init(&checkup->lock, NULL);
    return checkup;
}

void checkup_free(struct checkup *checkup) {
    if (checkup == NULL)
        return;
    arena_free(checkup->arena);
    pthread_mutex_destroy(&checkup->lock);
    free(checkup);
}

/* ---- Looking: in the thread of the doctor's pool */

static pawl_status look(struct store *store, struct arena *arena, struct doctor_report *report,
                        pawl_error *err) {
    const struct doctor_input input = {.job_lease_ms = PAWL_JOB_LEASE_MS_DEFAULT};
    if (arena == NULL)
        return error_set(err, PAWL_NO_MEMORY, "doctor", "no memory for a report");
    return doctor_run(store, &input, arena, report, err);
}

static void run(struct pool_task *pool_task, struct store *store, const pawl_error *opened) {
    struct checkup *checkup = (struct checkup *)pool_task;
    struct arena *arena = arena_create(PAWL_HTTP_ARENA_BYTES_MAX), *old;
    struct doctor_report report = {.count = 0};
    pawl_error err = *opened;
    int64_t began_ms = clock_boot_ms();
    pawl_status status = store != NULL ? look(store, arena, &report, &err) : PAWL_UNAVAILABLE;
    pthread_mutex_lock(&checkup->lock);
    checkup->looking = false;
    checkup->state = status == PAWL_OK ? CHECKUP_DONE : CHECKUP_FAILED;
    checkup->looked_ms = clock_wall_ms();
    checkup->took_ms = clock_boot_ms() - began_ms;
    old = status == PAWL_OK ? checkup->arena : arena;
    if (status == PAWL_OK) {
        checkup->arena = arena;
        checkup->report = report;
    } else {
        snprintf(checkup->error, sizeof checkup->error, "%s", err.text);
    }
    pthread_mutex_unlock(&checkup->lock);
    arena_free(old);
    server_hand_back(checkup->server, pool_task);
}

static void done(struct pool_task *pool_task) { (void)pool_task; /* the report stays */ }

/* Starts an examination, unless one is running. With the lock held. */
static void begin(struct checkup *checkup) {
    if (checkup->looking)
        return;
    checkup->looking = true;
    checkup->pool_task.run = run;
    checkup->pool_task.done = done;
    store_pool_put(&checkup->server->doctor_pool, &checkup->pool_task);
}

/* ---- Asking */

static const struct column state_columns[] = {
    {COLUMN(TEXT, "state")}, {COLUMN(BOOL, "looking")}, {COLUMN(TIME, "looked")},  {COLUMN(DURATION, "took")},
    {COLUMN(INT, "checks")}, {COLUMN(INT, "faults")},   {COLUMN(INT, "warnings")}, {COLUMN(TEXT, "error")}};

static pawl_status write_state(struct request *request, const struct checkup *checkup, pawl_error *err) {
    static const char *const states[] = {"never", "done", "failed"};
    bool known = checkup->arena != NULL, failed = checkup->state == CHECKUP_FAILED;
    return REQUEST_RECORD(request, state_columns, err, cell_cstr(states[checkup->state]),
                          cell_bool(checkup->looking), cell_time(checkup->looked_ms),
                          checkup->looked_ms > 0 ? cell_duration(checkup->took_ms) : cell_none(),
                          known ? cell_int((int64_t)checkup->report.checks) : cell_none(),
                          known ? cell_int((int64_t)checkup->report.faults) : cell_none(),
                          known ? cell_int((int64_t)checkup->report.warnings) : cell_none(),
                          failed ? cell_cstr(checkup->error) : cell_none());
}

/* Old reports are refreshed, for the next request. */
static pawl_status show(struct request *request, pawl_error *err) {
    struct checkup *checkup = call_of(request)->server->checkup;
    pthread_mutex_lock(&checkup->lock);
    if (checkup->state == CHECKUP_NEVER || clock_wall_ms() - checkup->looked_ms >= PAWL_HTTP_DOCTOR_MS)
        begin(checkup);
    pawl_status status = write_state(request, checkup, err);
    pthread_mutex_unlock(&checkup->lock);
    return status;
}

static pawl_status look_again(struct request *request, pawl_error *err) {
    struct checkup *checkup = call_of(request)->server->checkup;
    pthread_mutex_lock(&checkup->lock);
    begin(checkup);
    pawl_status status = write_state(request, checkup, err);
    pthread_mutex_unlock(&checkup->lock);
    return status;
}

static pawl_status findings(struct request *request, pawl_error *err) {
    struct checkup *checkup = call_of(request)->server->checkup;
    pthread_mutex_lock(&checkup->lock);
    request_list(request, finding_columns, FINDING_COLUMNS);
    for (size_t i = 0; i < checkup->report.count; i++) {
        struct cell cells[FINDING_COLUMNS];
        finding_cells(&checkup->report.findings[i], cells);
        request_row(request, cells);
    }
    pawl_status status = request_list_end(request, NULL, err);
    pthread_mutex_unlock(&checkup->lock);
    return status;
}

static const struct operation routes[] = {
    {OPERATION("doctor.show",
               "Result of the doctor's last examination; if it is a minute old, a new one starts"),
     READS("/v1/doctor"), .pool = POOL_LOOP, .shape = ANSWER_RECORD, COLUMNS(state_columns), .run = show},
    {OPERATION("doctor.run", "Start an examination; GET returns its result"),
     EXAMINES(METHOD_POST, "/v1/doctor"), .pool = POOL_LOOP, .shape = ANSWER_RECORD, COLUMNS(state_columns),
     .status = 202, .run = look_again},
    {OPERATION("doctor.findings", "The findings: what endangers the work, why, and what to do; faults first"),
     READS("/v1/doctor/findings"), .pool = POOL_LOOP, COLUMNS(finding_columns), .run = findings},
};

const struct operation_table doctor_routes = OPERATION_TABLE(routes);
