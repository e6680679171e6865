/* Operations on pauses, actions, refused deliveries, settings and maintenance. */
#include "operations/notes.h"

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "operations/operations.h"
#include "view/note.h"
#include "view/output/row.h"
#include "work/housekeeping.h"

pawl_status op_pause_list(struct request *request, pawl_error *err) {
    struct pause_rows found;
    pawl_status status = request->store->ops->relay->pauses(request->store, request->arena, &found, err);
    return status == PAWL_OK ? request_rows(request, ROWS_OF(pause, found.rows, found.count), NULL, err)
                             : status;
}

/* A page of numbered rows: the next one begins after the number of the last. */
static const char *next_number(struct request *request, size_t count, int64_t last) {
    return count == (size_t)request_limit(request) ? arena_printf(request->arena, "%lld", (long long)last)
                                                   : NULL;
}

pawl_status op_action_list(struct request *request, pawl_error *err) {
    struct audit_rows found;
    pawl_status status = request->store->ops->relay->audits(
        request->store, request_after_number(request), request_limit(request), request->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    int64_t last = found.count > 0 ? found.rows[found.count - 1].number : 0;
    return request_rows(request, ROWS_OF(action, found.rows, found.count),
                        next_number(request, found.count, last), err);
}

pawl_status op_refused_list(struct request *request, pawl_error *err) {
    struct refused_rows found;
    pawl_status status = request->store->ops->relay->refused(
        request->store, request_after_number(request), request_limit(request), request->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    int64_t last = found.count > 0 ? found.rows[found.count - 1].number : 0;
    return request_rows(request, ROWS_OF(refused, found.rows, found.count),
                        next_number(request, found.count, last), err);
}

pawl_status op_refused_forget(struct request *request, pawl_error *err) {
    struct value number = request_value(request, "number");
    if (number.number < 1)
        return error_set(err, PAWL_INVALID, "inbox", "\"%.*s\" is not a number of pawl inbox refused",
                         STR_ARG(number.text));
    pawl_status status = request->store->ops->relay->refused_remove(request->store, number.number, err);
    if (status == PAWL_OK)
        request->front->say(request->self, "forgotten");
    return status;
}

pawl_status op_settings_show(struct request *request, pawl_error *err) {
    struct settings settings;
    pawl_status status = request->store->ops->core.settings_read(request->store, &settings, err);
    return status == PAWL_OK ? request_shown(request, setting_columns, SETTING_COLUMNS, &settings, err)
                             : status;
}

#define ROW struct housekeeping
const struct column upkeep_columns[UPKEEP_COLUMNS] = {
    {.key = "instances_removed", INT_OF(core.instances_removed)},
    {.key = "tombstones_removed", INT_OF(core.tombstones_removed)},
    {.key = "dedupe_removed", INT_OF(core.dedupe_removed)},
    {.key = "requests_removed", INT_OF(core.requests_removed)},
    {.key = "claims_removed", INT_OF(core.claims_removed)},
    {.key = "history_removed", INT_OF(core.history_removed)},
    {.key = "receptors_removed", INT_OF(core.receptors_removed)},
    {.key = "claims_expired", INT_OF(core.claims_expired)},
    {.key = "tally_folded", INT_OF(core.tally_folded)},
    {.key = "executions_removed", INT_OF(jobs.runs_removed)},
    {.key = "spine_removed", INT_OF(jobs.spine_removed)},
    {.key = "runs_removed", INT_OF(runs.runs_removed)},
};
#undef ROW

/* Each round is a short transaction, so that nothing waits for it. A command goes on until nothing is left;
 * over HTTP the caller asks again. */
pawl_status op_maintain(struct request *request, pawl_error *err) {
    enum { ROUND_ROWS = 10000, HTTP_ROWS = 5000, ROUNDS_MAX = 100000 };
    struct housekeeping sum = {0}, round;
    bool command = request_is_command(request);
    int rounds = 0;
    do {
        pawl_status status =
            housekeeping_round(request->store, uuid_nil(), command ? ROUND_ROWS : HTTP_ROWS, &round, err);
        if (status != PAWL_OK)
            return status;
        housekeeping_add(&sum, &round);
    } while (command && round.more && ++rounds < ROUNDS_MAX);
    return request_shown(request, upkeep_columns, UPKEEP_COLUMNS, &sum, err);
}
