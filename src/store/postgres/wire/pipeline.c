/* Sending statements and reading results: single statements, and transactions in one round trip. */
#include "store/postgres/wire/pipeline.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "store/postgres/wire/status.h"

/* After this much silence the server is asked whether it is still working. */
enum { SILENCE_MS = 3000, SILENCE_ASK_MS = 2000 };
enum { TRIES_MAX = 8, ANSWER_GRACE_MS = 5000, STEPS_MAX = 40, NUMBER_BYTES = 16, NAME_BYTES = 24 };

void pg_statement_clear(struct statement *statement) {
    PQclear(statement->result); /* takes NULL */
    statement->result = NULL;
}

/* How far a call has come; decides what a lost connection means. */
struct server_call {
    struct postgres *self;
    const char *op;
    enum statement_effect effect;
    bool sent;         /* something may have reached the server */
    bool may_be_empty; /* a text without a statement is no failure */
    char sqlstate[6];  /* of the first error */
    int64_t deadline_ms;
    pawl_error *err;
};

static pawl_status lost(struct server_call *call, const char *why) {
    pawl_str text = str_trim(str_from(why));
    pawl_status status = call->sent && call->effect == EFFECT_WRITE
                             ? error_set(call->err, PAWL_UNKNOWN, call->op,
                                         "the connection was lost before the outcome was known (%.*s); ask "
                                         "again with the same request "
                                         "key",
                                         STR_ARG(text))
                             : error_set(call->err, PAWL_UNAVAILABLE, call->op,
                                         "the connection was lost: %.*s", STR_ARG(text));
    pg_connection_drop(call->self); /* last: the text may be the connection's */
    return status;
}

/* Pushes everything out, reading meanwhile: a server that cannot send does not read either. */
static pawl_status flush(struct server_call *call) {
    for (;;) {
        int left = PQflush(call->self->conn);
        if (left == 0)
            return PAWL_OK;
        if (left < 0)
            return lost(call, PQerrorMessage(call->self->conn));
        if (!pg_connection_wait(call->self->conn, POLLIN | POLLOUT, call->deadline_ms))
            return lost(call, "the server did not take the statement in time");
        if (PQconsumeInput(call->self->conn) == 0)
            return lost(call, PQerrorMessage(call->self->conn));
    }
}

/* Waits for the server to say something. A statement may take its time, but a connection over which nothing
 * comes any more is given up soon. Behind a pooler the two look alike. */
static bool wait_answer(struct server_call *call) {
    struct postgres *self = call->self;
    while (self->session == SESSION_OURS) {
        int64_t silent_ms = clock_boot_ms() + SILENCE_MS;
        if (silent_ms >= call->deadline_ms)
            break;
        if (pg_connection_wait(self->conn, POLLIN, silent_ms))
            return true;
        if (!pg_connection_working(self, SILENCE_ASK_MS))
            return pg_connection_wait(self->conn, POLLIN, clock_boot_ms() + 1); /* it came meanwhile */
    }
    return pg_connection_wait(self->conn, POLLIN, call->deadline_ms);
}

/* The next result, NULL at the end of a statement. */
static pawl_status next_result(struct server_call *call, PGresult **result) {
    while (PQisBusy(call->self->conn)) {
        if (!wait_answer(call)) {
            call->self->address.host++;
            return lost(call, "the server did not answer in time");
        }
        if (PQconsumeInput(call->self->conn) == 0)
            return lost(call, PQerrorMessage(call->self->conn));
    }
    *result = PQgetResult(call->self->conn);
    return PAWL_OK;
}

/* The same after a failure that was already described: what follows must not change the description. */
static pawl_status next_result_behind(struct server_call *call, pawl_status failure, PGresult **result) {
    pawl_error *err = call->err;
    if (failure != PAWL_OK)
        call->err = NULL;
    pawl_status status = next_result(call, result);
    call->err = err;
    return status != PAWL_OK && failure != PAWL_OK ? failure : status;
}

static bool has_failed(const PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    return status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK && status != PGRES_PIPELINE_SYNC &&
           status != PGRES_PIPELINE_ABORTED;
}

/* The first error counts. After `ended` (everything answered, only the commit is open) an outage means:
 * unknown. */
static pawl_status fault(struct server_call *call, const PGresult *result, bool ended) {
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (sqlstate ==
        NULL) /* it is libpq's: the connection broke, or there was no memory for what the server said */
        return lost(call, PQresultErrorMessage(result));
    if (ended && call->effect == EFFECT_WRITE && pg_status_is_outage(sqlstate))
        return error_set(call->err, PAWL_UNKNOWN, call->op,
                         "the server went away while it committed; ask again with "
                         "the same request key");
    if (call->sqlstate[0] == '\0' && sqlstate != NULL)
        snprintf(call->sqlstate, sizeof call->sqlstate, "%s", sqlstate);
    return pg_status_from_result(result, call->self->schema, call->op, call->err);
}

/* Takes all results of a call without a pipeline; the last good one is handed out. */
static pawl_status drain(struct server_call *call, PGresult **last) {
    pawl_status status = PAWL_OK;
    PGresult *good = NULL;
    for (;;) {
        PGresult *result = NULL;
        pawl_status read = next_result_behind(call, status, &result);
        if (call->self->conn == NULL) {
            PQclear(good);
            return read;
        }
        if (result == NULL)
            break;
        bool empty = call->may_be_empty && PQresultStatus(result) == PGRES_EMPTY_QUERY;
        if (empty || !has_failed(result)) {
            PQclear(good);
            good = result;
            continue;
        }
        if (status == PAWL_OK)
            status = fault(call, result, good != NULL);
        PQclear(result);
        if (call->self->conn == NULL)
            break;
    }
    if (status == PAWL_OK) {
        *last = good;
        return PAWL_OK;
    }
    PQclear(good);
    return status;
}

static struct server_call call_begin(struct postgres *self, const char *op, enum statement_effect effect,
                                     pawl_error *err) {
    self->doubt = false;
    return (struct server_call){.self = self,
                                .op = op,
                                .effect = effect,
                                .deadline_ms = clock_boot_ms() + self->statement_timeout_ms + ANSWER_GRACE_MS,
                                .err = err};
}

/* Equal names mean equal texts, also in a shared session. */
static void statement_name(const struct postgres *self, enum postgres_query query,
                           char name[static NAME_BYTES]) {
    snprintf(name, NAME_BYTES, "pawl_%016" PRIx64, fnv1a64(str_from(self->queries[query])));
}

static int send(struct postgres *self, const struct statement *statement) {
    const struct params *p = &statement->params;
    self->sent_before[statement->query] = true;
    if (self->prepared[statement->query]) {
        char name[NAME_BYTES];
        statement_name(self, statement->query, name);
        return PQsendQueryPrepared(self->conn, name, p->count, p->values, p->lengths, p->formats, 1);
    }
    return PQsendQueryParams(self->conn, self->queries[statement->query], p->count, p->types, p->values,
                             p->lengths, p->formats, 1);
}

static pawl_status single_try(struct server_call *call, struct statement *statement) {
    call->sent = true;
    if (send(call->self, statement) == 0)
        return lost(call, PQerrorMessage(call->self->conn));
    PGresult *result = NULL;
    pawl_status status = flush(call);
    if (status == PAWL_OK)
        status = drain(call, &result);
    if (status == PAWL_OK)
        statement->result = result;
    return status;
}

/* Whether two transactions are served by one session that is ours alone; behind a pooler they need not be,
 * and it shows the client a process id that it made up. Asked once per connection. */
static pawl_status session_look(struct server_call *call) {
    pawl_status status = PAWL_OK;
    bool ours = true;
    if (call->self->session != SESSION_UNKNOWN)
        return PAWL_OK;
    for (int i = 0; status == PAWL_OK && i < 2; i++) {
        struct statement probe = {.query = POSTGRES_Q_SESSION_PROBE};
        status = single_try(call, &probe);
        if (status == PAWL_OK)
            ours = ours && pg_cell_int((struct cell){probe.result, 0, 0}) == PQbackendPID(call->self->conn);
        pg_statement_clear(&probe);
    }
    if (status == PAWL_OK)
        call->self->session = ours ? SESSION_OURS : SESSION_SHARED;
    return status;
}

static bool comes_back(const struct postgres *self, const struct statement *statement) {
    return self->address.direct && self->sent_before[statement->query] && !self->prepared[statement->query];
}

/* A statement that comes back is parsed by the server once, in the transaction that runs it, and called by
 * name from then on, where the session is ours. */
static bool to_prepare(const struct postgres *self, const struct statement *statement) {
    return comes_back(self, statement) && self->session == SESSION_OURS;
}

static int send_prepare(struct postgres *self, const struct statement *statement) {
    const struct params *p = &statement->params;
    char name[NAME_BYTES];
    statement_name(self, statement->query, name);
    if (PQsendPrepare(self->conn, name, self->queries[statement->query], p->count, p->types) == 0)
        return 0;
    return PQsendQueryPrepared(self->conn, name, p->count, p->values, p->lengths, p->formats, 1);
}

/* Takes the results of a pipeline up to its sync: one statement after the other, the last is the commit.
 * prepared: steps whose first answer is about that. */
static pawl_status pipeline_take(struct server_call *call, struct statement **steps, size_t count,
                                 bool prepared[static STEPS_MAX]) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i <= count;) { /* count: the sync */
        PGresult *result = NULL;
        pawl_status read = next_result_behind(call, status, &result);
        if (call->self->conn == NULL)
            return read;
        if (result == NULL) {
            if (PQstatus(call->self->conn) != CONNECTION_OK) {
                pg_connection_drop(call->self);
                return status != PAWL_OK ? status : lost(call, "the server closed it");
            }
            if (i < count && prepared[i])
                prepared[i] = false;
            else
                i += i < count ? 1 : 0;
            continue;
        }
        if (i < count && prepared[i])
            call->self->prepared[steps[i]->query] = PQresultStatus(result) == PGRES_COMMAND_OK;
        if (has_failed(result)) {
            if (status == PAWL_OK)
                status = fault(call, result, i + 1 >= count);
            PQclear(result);
            if (call->self->conn == NULL)
                return status;
        } else if (i == count) {
            PQclear(result); /* the sync */
            break;
        } else if (prepared[i]) {
            PQclear(result);
        } else {
            pg_statement_clear(steps[i]);
            steps[i]->result = result;
        }
    }
    return status;
}

static pawl_status pipeline_try(struct server_call *call, struct statement **steps, size_t count) {
    struct postgres *self = call->self;
    bool prepared[STEPS_MAX] = {false};
    call->sent = true;
    bool sent = PQenterPipelineMode(self->conn) != 0;
    for (size_t i = 0; sent && i < count; i++) {
        prepared[i] = to_prepare(self, steps[i]);
        sent = (prepared[i] ? send_prepare(self, steps[i]) : send(self, steps[i])) != 0;
        self->prepared[steps[i]->query] |= prepared[i]; /* the server takes them in this order */
    }
    if (!sent || PQpipelineSync(self->conn) == 0)
        return lost(call, PQerrorMessage(self->conn));
    pawl_status status = flush(call);
    if (status == PAWL_OK)
        status = pipeline_take(call, steps, count, prepared);
    if (self->conn == NULL)
        return status;
    if (PQexitPipelineMode(self->conn) == 0)
        pg_connection_drop(self); /* something is left over: start over */
    return status;
}

/* A transaction that failed in the middle of a pipeline is still open. */
static void give_up(struct postgres *self) {
    char sqlstate[6];
    if (self->conn == NULL || PQtransactionStatus(self->conn) == PQTRANS_IDLE)
        return;
    if (pg_script_run(self, "rollback", self->queries[POSTGRES_Q_ROLLBACK], sqlstate, NULL) != PAWL_OK)
        pg_connection_drop(self);
}

/* Waits for a random time that grows with the number of tries, so that colliding callers separate. */
static void back_off(int tries) {
    uint64_t random = 0;
    if (random_bytes(&random, sizeof random, NULL) != PAWL_OK)
        random = (uint64_t)clock_boot_us();
    uint64_t micros = random % (UINT64_C(2000) << tries);
    struct timespec wait = {.tv_sec = (time_t)(micros / 1000000), .tv_nsec = (long)(micros % 1000000) * 1000};
    (void)nanosleep(&wait, NULL); /* a signal only makes it shorter */
}

/* The liveness lock was lost with the old connection: take it again before peers act on it. If that fails,
 * the heartbeat still proves that we are alive. */
static void liveness_again(struct postgres *self) {
    if (!self->lock_lost)
        return;
    self->lock_lost = false;
    struct statement hold = {.query = POSTGRES_Q_LIVENESS_HOLD};
    struct arena *arena = arena_create(0);
    struct server_call call = call_begin(self, "liveness_hold", EFFECT_READ, NULL);
    if (arena != NULL) {
        pg_params_init(&hold.params, arena);
        PARAMS(&hold.params, self->alive);
        if (single_try(&call, &hold) != PAWL_OK)
            self->lock_lost = self->conn == NULL;
    }
    pg_statement_clear(&hold);
    arena_free(arena);
}

static pawl_status pooled_run(struct server_call *call, struct statement *statements, size_t count);

/* One try: alone when it is alone, else as a transaction. */
static pawl_status try_run(struct server_call *call, struct statement *statements, size_t count) {
    pawl_status status = pg_connection_ready(call->self, call->op, call->err);
    if (status == PAWL_OK)
        liveness_again(call->self);
    if (status == PAWL_OK && call->self->conn == NULL)
        status = pg_connection_ready(call->self, call->op, call->err);
    struct server_call look = *call;
    look.effect = EFFECT_READ; /* nothing has been asked for yet */
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        if (comes_back(call->self, &statements[i]))
            status = session_look(&look);
    }
    if (status != PAWL_OK)
        return status;
    struct statement *alone = count == 1 && call->self->address.direct ? &statements[0] : NULL;
    if (alone != NULL && to_prepare(call->self, alone))
        return pipeline_try(call, &alone, 1);
    return alone != NULL ? single_try(call, alone) : pooled_run(call, statements, count);
}

/* BEGIN, the limits where the session has none, the statements, COMMIT: one round trip. */
static pawl_status pooled_run(struct server_call *call, struct statement *statements, size_t count) {
    struct postgres *self = call->self;
    struct statement begin = {.query = POSTGRES_Q_BEGIN};
    struct statement limits = {.query = POSTGRES_Q_SESSION_LIMITS};
    struct statement commit = {.query = POSTGRES_Q_COMMIT};
    struct statement *steps[STEPS_MAX];
    size_t step_count = 0;
    struct arena *arena = arena_create(0);
    if (arena == NULL || count + 3 > STEPS_MAX) {
        arena_free(arena);
        return error_set(call->err, PAWL_NO_MEMORY, call->op, "no memory for a transaction of %zu statements",
                         count);
    }
    steps[step_count++] = &begin;
    if (!self->address.direct) {
        pg_params_init(&limits.params, arena);
        PARAMS(&limits.params, str_from(arena_printf(arena, "%d", self->statement_timeout_ms)),
               str_from(arena_printf(arena, "%d", PAWL_LOCK_TIMEOUT_MS_DEFAULT)),
               str_from(arena_printf(arena, "%d", self->statement_timeout_ms)));
        steps[step_count++] = &limits;
    }
    for (size_t i = 0; i < count; i++)
        steps[step_count++] = &statements[i];
    steps[step_count++] = &commit;
    pawl_status status = pipeline_try(call, steps, step_count);
    if (status != PAWL_OK)
        give_up(self);
    pg_statement_clear(&begin);
    pg_statement_clear(&limits);
    pg_statement_clear(&commit);
    arena_free(arena);
    return status;
}

static bool has_ended(const struct postgres *self) {
    return self->conn == NULL || PQstatus(self->conn) != CONNECTION_OK;
}

/* The session no longer knows a statement by its name, or its result changed with the schema: start over. */
static bool is_forgotten(const char *sqlstate) {
    return strcmp(sqlstate, "26000") == 0 || strcmp(sqlstate, "0A000") == 0;
}

static pawl_status run(struct server_call call, struct statement *statements, size_t count) {
    for (size_t i = 0; i < count; i++) {
        pawl_status status = pg_params_status(&statements[i].params, call.op, call.err);
        if (status != PAWL_OK)
            return status;
    }
    pawl_status status = PAWL_OK;
    bool replaced = false;
    for (int tries = 0; tries < TRIES_MAX; tries++) {
        bool reused = call.self->conn != NULL;
        call.sqlstate[0] = '\0';
        call.sent = false;
        status = try_run(&call, statements, count);
        if (status == PAWL_UNAVAILABLE && call.effect == EFFECT_READ && reused && !replaced &&
            has_ended(call.self)) {
            replaced = true; /* the server had closed an old connection; asking again is free */
        } else if (status != PAWL_OK && is_forgotten(call.sqlstate) && reused && !replaced) {
            replaced = true;
            pg_connection_drop(call.self);
        } else if (status == PAWL_OK || !pg_status_is_collision(call.sqlstate)) {
            break;
        } else {
            back_off(tries);
        }
    }
    call.self->answered_us = status == PAWL_OK ? clock_boot_us() : 0;
    if (status == PAWL_OK && call.self->doubt && call.effect == EFFECT_WRITE)
        status =
            error_set(call.err, PAWL_UNKNOWN, call.op,
                      "the server committed without its synchronous standby: it may be lost at a failover");
    if (status != PAWL_OK) {
        for (size_t i = 0; i < count; i++)
            pg_statement_clear(&statements[i]);
    }
    return status;
}

pawl_status pg_statement_run(struct postgres *self, const char *op, struct statement *statement,
                             enum statement_effect effect, pawl_error *err) {
    return run(call_begin(self, op, effect, err), statement, 1);
}

pawl_status pg_statements_run(struct postgres *self, const char *op, struct statement *statements,
                              size_t count, enum statement_effect effect, pawl_error *err) {
    return run(call_begin(self, op, effect, err), statements, count);
}

pawl_status pg_session_is_ours(struct postgres *self, const char *op, bool *ours, pawl_error *err) {
    struct server_call call = call_begin(self, op, EFFECT_READ, err);
    pawl_status status = pg_connection_ready(self, op, err);
    if (status == PAWL_OK && self->address.direct)
        status = session_look(&call);
    if (status == PAWL_OK)
        *ours = self->session == SESSION_OURS;
    return status;
}

pawl_status pg_query_run(struct postgres *self, const char *op, const char *text, PGresult **result,
                         pawl_error *err) {
    struct server_call call = call_begin(self, op, EFFECT_READ, err);
    pawl_status status = pg_connection_ready(self, op, err);
    if (status != PAWL_OK)
        return status;
    if (PQsendQueryParams(self->conn, text, 0, NULL, NULL, NULL, NULL, 1) == 0)
        return lost(&call, PQerrorMessage(self->conn));
    status = flush(&call);
    return status == PAWL_OK ? drain(&call, result) : status;
}

/* Errors in the statement itself: class 42, except the refusal of several statements at once, which the
 * server has parsed by then. */
static bool is_wrong(const PGresult *result) {
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *routine = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
    return sqlstate != NULL && strncmp(sqlstate, "42", 2) == 0 &&
           (routine == NULL || strcmp(routine, "exec_parse_message") != 0);
}

pawl_status pg_parse_run(struct postgres *self, const char *op, const char *text, pawl_error *err) {
    enum { JSON_TYPE = 114 };
    static const Oid types[] = {JSON_TYPE};
    struct server_call call = call_begin(self, op, EFFECT_READ, err);
    pawl_status status = pg_connection_ready(self, op, err);
    if (status != PAWL_OK)
        return status;
    if (PQsendPrepare(self->conn, "", text, 1, types) == 0)
        return lost(&call, PQerrorMessage(self->conn));
    pawl_status read = flush(&call);
    for (PGresult *result = NULL; read == PAWL_OK; PQclear(result)) {
        read = next_result_behind(&call, status, &result);
        if (read != PAWL_OK || result == NULL)
            break;
        if (status == PAWL_OK && has_failed(result) && is_wrong(result))
            status =
                error_set(err, PAWL_INVALID, op, "%s", PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
    }
    return read != PAWL_OK ? read : status;
}

pawl_status pg_script_run(struct postgres *self, const char *op, const char *text, char sqlstate[static 6],
                          pawl_error *err) {
    struct server_call call = call_begin(self, op, EFFECT_WRITE, err);
    PGresult *result = NULL;
    sqlstate[0] = '\0';
    call.sent = true;
    call.may_be_empty = true;
    if (PQsendQuery(self->conn, text) == 0)
        return lost(&call, PQerrorMessage(self->conn));
    pawl_status status = flush(&call);
    if (status == PAWL_OK)
        status = drain(&call, &result);
    PQclear(result);
    snprintf(sqlstate, 6, "%s", call.sqlstate);
    return status;
}

pawl_status pg_step_run(struct postgres *self, const char *op, struct statement *statement, pawl_error *err) {
    struct server_call call = call_begin(self, op, EFFECT_WRITE, err);
    pawl_status status = pg_params_status(&statement->params, op, err);
    return status == PAWL_OK ? single_try(&call, statement) : status;
}
