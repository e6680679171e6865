/* Putting and ending messages and jobs inside the caller's open SQLite transaction. */
#include "base/error.h"
#include "store/foreign.h"
#include "store/sqlite/claims/report.h"
#include "store/sqlite/events/events.h"
#include "store/sqlite/jobs/jobs.h"
#include "store/sqlite/messages/put.h"

/* An operation inside the caller's transaction. Its store is made around the caller's connection for the time
 * of the call: statements and scratch, no lock, no file. */
struct foreign_call {
    struct sqlite_store store;
    struct operation op;
};

static void give_back(struct sqlite_store *store) {
    for (size_t i = 0; i < SQLITE_Q_COUNT; i++)
        sqlite3_finalize(store->statements[i]);
    arena_free(store->scratch);
}

static pawl_status foreign_begin(struct foreign_call *call, struct sqlite3 *db, const char *name,
                                 pawl_error *err) {
    if (sqlite3_get_autocommit(db) != 0)
        return error_set(err, PAWL_INVALID, name,
                         "no transaction is open on the connection: BEGIN IMMEDIATE one, or use pawl_send, "
                         "pawl_append or pawl_enqueue");
    const char *file = sqlite3_db_filename(db, "main");
    call->store = (struct sqlite_store){.db = db, .path = (char *)(file != NULL ? file : "the database")};
    call->store.scratch = arena_create(0);
    if (call->store.scratch == NULL)
        return error_set(err, PAWL_NO_MEMORY, name, "out of memory");
    pawl_status status = operation_join(&call->op, &call->store, name, err);
    if (status != PAWL_OK)
        give_back(&call->store);
    return status;
}

static pawl_status foreign_end(struct foreign_call *call, pawl_status status) {
    status = operation_leave(&call->op, status);
    give_back(&call->store);
    return status;
}

pawl_status sqlite_put_in_transaction(struct sqlite3 *db, const struct messages_put *in, struct arena *arena,
                                      struct put_result *out, pawl_error *err) {
    struct foreign_call call;
    struct put_result result = {0};
    bool used = false;
    pawl_status status = check_put(in, err);
    if (status == PAWL_OK)
        status = foreign_begin(&call, db, "pawl_send_sqlite", err);
    if (status != PAWL_OK)
        return status;
    status = request_use(&call.op, in->request, &used);
    if (status == PAWL_OK)
        status = put_messages(&call.op, in, used, arena, &result);
    status = foreign_end(&call, status);
    if (status == PAWL_OK)
        *out = result;
    return status;
}

pawl_status sqlite_append_in_transaction(struct sqlite3 *db, const struct events_append *in,
                                         struct arena *arena, struct append_result *out, pawl_error *err) {
    struct foreign_call call;
    struct append_result result = {0};
    TRY(check_append(in, err));
    TRY(foreign_begin(&call, db, "pawl_append_sqlite", err));
    TRY(foreign_end(&call, append_events(&call.op, in, arena, &result)));
    *out = result;
    return PAWL_OK;
}

/* What the caller wrote was for work that another worker has by now. */
static void roll_back_stale(struct sqlite3 *db, pawl_status status) {
    if (status == PAWL_STALE && sqlite3_get_autocommit(db) == 0)
        (void)sqlite3_exec(db, sql_sqlite_queries[SQLITE_Q_TRANSACTION_ROLLBACK].text, NULL, NULL, NULL);
}

static pawl_status finish(struct operation *op, enum store_kind kind, struct item_ref ref) {
    struct complete_item item = {ref, kind == KIND_OUTBOX ? 2 : 4};
    struct messages_complete in = {.kind = kind, .items = &item, .count = 1};
    struct answer_list answers;
    struct statement s = SQL(op, SQLITE_Q_CLAIM_INSTANCE, ref.token);
    bool known = statement_next(&s);
    if (known)
        in.instance = column_uuid(&s, 0);
    TRY(statement_end(&s));
    if (known)
        TRY(items_complete(op, &in, op->scratch, &answers));
    if (known && answers.answers[0] == ANSWER_APPLIED)
        return PAWL_OK;
    if (known && answers.answers[0] == ANSWER_CONFLICT)
        return error_set(
            op->err, PAWL_CONFLICT, op->name,
            "an earlier message of the stream is not finished yet: roll back and try again later");
    return error_set(op->err, PAWL_STALE, op->name,
                     "the grant has ended: everything was rolled back; drop the message");
}

pawl_status sqlite_finish_in_transaction(struct sqlite3 *db, enum store_kind kind, struct item_ref ref,
                                         pawl_error *err) {
    struct foreign_call call;
    pawl_status status = foreign_begin(&call, db, "pawl_finish_sqlite", err);
    if (status != PAWL_OK)
        return status;
    status = foreign_end(&call, finish(&call.op, kind, ref));
    roll_back_stale(db, status);
    return status;
}

pawl_status sqlite_enqueue_in_transaction(struct sqlite3 *db, const struct jobs_enqueue *in,
                                          struct arena *arena, struct enqueue_result *out, pawl_error *err) {
    struct foreign_call call;
    struct enqueue_result result = {0};
    TRY(check_jobs_enqueue(in, err));
    TRY(foreign_begin(&call, db, "pawl_enqueue_sqlite", err));
    TRY(foreign_end(&call, jobs_enqueue_in(&call.op, in, arena, &result)));
    *out = result;
    return PAWL_OK;
}

static pawl_status job_finish(struct operation *op, struct job_ref ref, int64_t duration_ms) {
    struct finish_item item = {.ref = ref, .outcome = JOB_COMPLETE, .duration_ms = duration_ms};
    struct jobs_finish in = {.items = &item, .count = 1};
    struct finish_result result = {0};
    struct job_claim claim = {0};
    bool known = false;
    TRY(jobs_claim_find(op, ref.token, &claim, &known));
    in.instance = claim.instance;
    if (known)
        TRY(jobs_finish_in(op, &in, op->scratch, &result));
    if (!known || result.answers[0] != ANSWER_APPLIED)
        return error_set(op->err, PAWL_STALE, op->name,
                         "the grant has ended: everything was rolled back; drop the job");
    return PAWL_OK;
}

pawl_status sqlite_job_finish_in_transaction(struct sqlite3 *db, struct job_ref ref, int64_t duration_ms,
                                             pawl_error *err) {
    struct foreign_call call;
    pawl_status status = foreign_begin(&call, db, "pawl_finish_sqlite", err);
    if (status != PAWL_OK)
        return status;
    status = foreign_end(&call, job_finish(&call.op, ref, duration_ms));
    roll_back_stale(db, status);
    return status;
}
