/* Operations on the schema: its settings, its upkeep, its invariants. */
#include "base/error.h"
#include "base/uuid.h"
#include "operations/tables.h"
#include "view/note.h"
#include "view/output/row.h"
#include "work/housekeeping.h"

static pawl_status settings_show(struct request *request, pawl_error *err) {
    struct settings settings;
    TRY(request->store->ops->core.settings_read(request->store, &settings, err));
    return request_shown(request, setting_columns, SETTING_COLUMNS, &settings, err);
}

/* ---- Changing settings */

/* stale follows the instance lease: no row is removed while its instance may only be slow. */
static pawl_status derive(struct request *request, struct settings_change *change, pawl_error *err) {
    struct settings now;
    if (change->instance_lease_ms < 0 || change->stale_ms >= 0)
        return PAWL_OK;
    TRY(request->store->ops->core.settings_read(request->store, &now, err));
    if (now.stale_ms < 2 * change->instance_lease_ms)
        change->stale_ms = 2 * change->instance_lease_ms;
    return PAWL_OK;
}

static pawl_status settings_set(struct request *request, pawl_error *err) {
    struct settings_change change = {.instance_lease_ms = request_number(request, "instance_lease_ms", -1),
                                     .stale_ms = request_number(request, "stale_ms", -1),
                                     .dedupe_ms = request_number(request, "dedupe_ms", -1),
                                     .history_ms = request_number(request, "history_ms", -1),
                                     .test_now_ms = -1,
                                     .max_attempts = (int)request_number(request, "max_attempts", -1),
                                     .dead_policy = request_choice(request, "dead_policy") != 0
                                                        ? request_choice(request, "dead_policy")
                                                        : -1};
    TRY(derive(request, &change, err));
    TRY(request->store->ops->core.settings_change(request->store, &change, err));
    return settings_show(request, err);
}

/* ---- Upkeep */

#define ROW struct housekeeping
static const struct column upkeep_columns[] = {
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
static pawl_status maintain(struct request *request, pawl_error *err) {
    enum { ROUND_ROWS = 10000, HTTP_ROWS = 5000, ROUNDS_MAX = 100000 };
    struct housekeeping sum = {0}, round;
    bool command = request_is_command(request);
    int rounds = 0;
    do {
        TRY(housekeeping_round(request->store, uuid_nil(), command ? ROUND_ROWS : HTTP_ROWS, &round, err));
        housekeeping_add(&sum, &round);
    } while (command && round.more && ++rounds < ROUNDS_MAX);
    return request_shown(request, upkeep_columns, COLUMN_COUNT(upkeep_columns), &sum, err);
}

static const struct column check_columns[] = {{COLUMN(TEXT, "invariant")},
                                              {COLUMN(TEXT, "detail"), .cut = true}};

static pawl_status check_invariants(struct request *request, pawl_error *err) {
    struct violations found;
    TRY(request->store->ops->view.check(request->store, request->arena, &found, err));
    if (found.count > 0)
        request_exit_with(request, 1);
    request_list(request, check_columns, COLUMN_COUNT(check_columns));
    for (size_t i = 0; i < found.count; i++)
        request_row(request,
                    (struct cell[]){cell_text(found.rows[i].invariant), cell_text(found.rows[i].detail)});
    return request_list_end(request, NULL, err);
}

/* ---- The tables */

static const struct field setting_fields[] = {
    {DURATION_FIELD(IN_BODY, "instance_lease_ms", PAWL_LEASE_MS_MIN, PAWL_LEASE_MS_MAX,
                    "An instance silent for longer loses its work.")},
    {DURATION_FIELD(IN_BODY, "stale_ms", PAWL_LEASE_MS_MIN, PAWL_STALE_MS_MAX,
                    "The row of an instance silent for longer is removed.")},
    {DURATION_FIELD(IN_BODY, "dedupe_ms", 1000, PAWL_DEDUPE_MS_MAX, "How long an inbox remembers ids.")},
    {DURATION_FIELD(IN_BODY, "history_ms", 0, PAWL_HISTORY_MS_MAX,
                    "How long completed messages are kept; 0 keeps none.")},
    {INT_FIELD(IN_BODY, "max_attempts", 1, PAWL_ATTEMPTS_MAX,
               "Attempts before a message becomes a dead letter.")},
    {CHOICE_FIELD(
        IN_BODY, "dead_policy", "block|skip|park",
        "When a message becomes a dead letter, its stream stops, continues, or its later messages are "
        "parked with it.")}};

static const struct operation settings[] = {
    {OPERATION("setting.list", "Show the settings of the schema"), READS("/v1/settings"),
     RECORD(setting_columns), .run = settings_show},
    {OPERATION("setting.set", "Change the settings of the schema; omitted ones are unchanged"),
     PUTS("/v1/settings"), FIELDS(setting_fields), RECORD(setting_columns), .run = settings_set,
     .example = "pawl setting set --max-attempts 10 --history 30d"},
};

static const struct operation upkeep[] = {
    {OPERATION("check", "Check every invariant of the stored state"), EXAMINES(METHOD_GET, "/v1/check"),
     COLUMNS(check_columns), .run = check_invariants,
     .details = "Exits with 0 when the state is sound, with 1 when it is not and with 72 when the SQLite "
                "file itself is damaged; JSON is the list of violations, empty when there are none.",
     .empty = "sound: every invariant holds"},
    {OPERATION("maintain", "Remove what is no longer needed, and end expired claims"), POSTS("/v1/maintain"),
     RECORD(upkeep_columns), .run = maintain,
     .details =
         "Workers do this by themselves; if none is running, or you cannot wait, run it by hand or "
         "from a timer. It works in short transactions and is safe at any time. A command goes on until "
         "nothing is left; over HTTP it is one round: ask again for more."},
};

const struct operation_table setting_operations = OPERATION_TABLE(settings);
const struct operation_table upkeep_operations = OPERATION_TABLE(upkeep);
