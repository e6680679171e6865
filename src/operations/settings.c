/* Operations on the schema: its settings, its upkeep, its invariants. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "operations/tables.h"
#include "view/note.h"
#include "view/output/row.h"
#include "work/housekeeping.h"

static pawl_status settings_show(struct request *request, pawl_error *err) {
    struct settings settings;
    pawl_status status = request->store->ops->core.settings_read(request->store, &settings, err);
    return status == PAWL_OK ? request_shown(request, setting_columns, SETTING_COLUMNS, &settings, err)
                             : status;
}

/* ---- Changing settings */

/* A setting that may be changed; its range is that of the option with the same meaning. */
struct setting {
    const char *name;
    enum option_id option; /* OPTION_COUNT: the dead policy */
    size_t offset;         /* in struct settings_change */
};

static const struct setting settings_rows[] = {
    {"instance_lease", OPTION_INSTANCE_LEASE, offsetof(struct settings_change, instance_lease_ms)},
    {"stale", OPTION_STALE, offsetof(struct settings_change, stale_ms)},
    {"dedupe", OPTION_DEDUPE_WINDOW, offsetof(struct settings_change, dedupe_ms)},
    {"history", OPTION_HISTORY, offsetof(struct settings_change, history_ms)},
    {"max_attempts", OPTION_MAX_ATTEMPTS, offsetof(struct settings_change, max_attempts)},
    {"dead_policy", OPTION_COUNT, offsetof(struct settings_change, dead_policy)},
};

enum { SETTINGS = sizeof settings_rows / sizeof settings_rows[0] };

static pawl_status unknown_setting(pawl_str name, pawl_error *err) {
    const char *names[SETTINGS];
    char typed[64];
    for (size_t i = 0; i < SETTINGS; i++)
        names[i] = settings_rows[i].name;
    snprintf(typed, sizeof typed, "%.*s", STR_ARG(name));
    if (strcmp(typed, "partition_count") == 0 || strcmp(typed, "lane_count") == 0)
        return error_set(err, PAWL_INVALID, "settings", "%s is fixed when the schema is made", typed);
    const char *close = options_suggest(typed, names, SETTINGS);
    if (close != NULL)
        return error_set(err, PAWL_INVALID, "settings", "there is no setting \"%s\". Did you mean %s?", typed,
                         close);
    return error_set(err, PAWL_INVALID, "settings",
                     "there is no setting \"%s\". pawl help settings set lists them", typed);
}

static pawl_status set_duration(const struct setting *setting, pawl_str text, int64_t *value_ms,
                                pawl_error *err) {
    const struct option_row *row = &option_rows[setting->option];
    char min[CLOCK_DURATION_BYTES];
    char max[CLOCK_DURATION_BYTES];
    if (clock_parse_duration(text, value_ms) && *value_ms >= row->min && *value_ms <= row->max)
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "settings",
                     "%s is \"%.*s\": it needs a duration from %s to %s, such as %s", setting->name,
                     STR_ARG(text), clock_format_duration(row->min, min),
                     clock_format_duration(row->max, max), row->fallback);
}

static pawl_status set_one(const char *word, struct settings_change *change, pawl_error *err) {
    const char *equals = strchr(word, '=');
    if (equals == NULL)
        return error_set(err, PAWL_INVALID, "settings", "\"%s\" is not KEY=VALUE", word);
    pawl_str name = {word, (size_t)(equals - word)};
    pawl_str text = str_from(equals + 1);
    size_t i = 0;
    while (i < SETTINGS && !str_equal_cstr(name, settings_rows[i].name))
        i++;
    if (i == SETTINGS)
        return unknown_setting(name, err);
    const struct setting *setting = &settings_rows[i];
    char *target = (char *)change + setting->offset;
    if (setting->option == OPTION_COUNT) {
        int policy = str_choice("block|skip|park", text);
        if (policy < 0)
            return error_set(err, PAWL_INVALID, "settings",
                             "dead_policy is \"%.*s\": it is block, skip or park", STR_ARG(text));
        policy += POLICY_BLOCK;
        memcpy(target, &policy, sizeof policy);
        return PAWL_OK;
    }
    int64_t number = 0;
    if (setting->option == OPTION_MAX_ATTEMPTS) {
        if (!str_to_i64(text, 1, PAWL_ATTEMPTS_MAX, &number))
            return error_set(err, PAWL_INVALID, "settings",
                             "max_attempts is \"%.*s\": it is a number from 1 to %d", STR_ARG(text),
                             PAWL_ATTEMPTS_MAX);
        int attempts = (int)number;
        memcpy(target, &attempts, sizeof attempts);
        return PAWL_OK;
    }
    pawl_status status = set_duration(setting, text, &number, err);
    if (status == PAWL_OK)
        memcpy(target, &number, sizeof number);
    return status;
}

/* The words KEY=VALUE of a command, or the fields of a request. */
static pawl_status read_settings(struct request *request, struct settings_change *change, pawl_error *err) {
    const struct tree *words = request_value(request, "keys").tree;
    *change = (struct settings_change){.instance_lease_ms = request_number(request, "instance_lease_ms", -1),
                                       .stale_ms = request_number(request, "stale_ms", -1),
                                       .dedupe_ms = request_number(request, "dedupe_ms", -1),
                                       .history_ms = request_number(request, "history_ms", -1),
                                       .test_now_ms = -1,
                                       .max_attempts = (int)request_number(request, "max_attempts", -1),
                                       .dead_policy = request_choice(request, "dead_policy") != 0
                                                          ? request_choice(request, "dead_policy")
                                                          : -1};
    pawl_status status = PAWL_OK;
    for (size_t i = 0; words != NULL && i < words->count && status == PAWL_OK; i++)
        status = set_one(words->items[i]->text.ptr, change, err);
    return status;
}

static pawl_status settings_words(struct request *request, pawl_error *err) {
    struct settings_change change;
    return read_settings(request, &change, err);
}

/* On the command line stale follows the instance lease: no row is removed while its instance may only be
 * slow. */
static pawl_status derive(struct request *request, struct settings_change *change, pawl_error *err) {
    struct settings now;
    if (!request_is_command(request) || change->instance_lease_ms < 0 || change->stale_ms >= 0)
        return PAWL_OK;
    pawl_status status = request->store->ops->core.settings_read(request->store, &now, err);
    if (status == PAWL_OK && now.stale_ms < 2 * change->instance_lease_ms)
        change->stale_ms = 2 * change->instance_lease_ms;
    return status;
}

static pawl_status settings_set(struct request *request, pawl_error *err) {
    struct settings_change change;
    pawl_status status = read_settings(request, &change, err);
    if (status == PAWL_OK)
        status = derive(request, &change, err);
    if (status == PAWL_OK)
        status = request->store->ops->core.settings_change(request->store, &change, err);
    return status == PAWL_OK ? settings_show(request, err) : status;
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
        pawl_status status =
            housekeeping_round(request->store, uuid_nil(), command ? ROUND_ROWS : HTTP_ROWS, &round, err);
        if (status != PAWL_OK)
            return status;
        housekeeping_add(&sum, &round);
    } while (command && round.more && ++rounds < ROUNDS_MAX);
    return request_shown(request, upkeep_columns, COLUMN_COUNT(upkeep_columns), &sum, err);
}

static const struct column check_columns[] = {{COLUMN(TEXT, "invariant")},
                                              {COLUMN(TEXT, "detail"), .cut = true}};

static pawl_status check_invariants(struct request *request, pawl_error *err) {
    struct violations found;
    pawl_status status = request->store->ops->view.check(request->store, request->arena, &found, err);
    if (status == PAWL_CONFLICT && request->store->caps.role && !request_is_command(request))
        return error_set(
            err, status, "check",
            "the server may not read the tables themselves: run pawl check with the owner's login");
    if (status != PAWL_OK)
        return status;
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
    {INT_FIELD(IN_BODY, "instance_lease_ms", PAWL_LEASE_MS_MIN, PAWL_LEASE_MS_MAX,
               "An instance silent for longer loses its work.")},
    {INT_FIELD(IN_BODY, "stale_ms", PAWL_LEASE_MS_MIN, PAWL_STALE_MS_MAX,
               "The row of an instance silent for longer is removed.")},
    {INT_FIELD(IN_BODY, "dedupe_ms", 1000, PAWL_DEDUPE_MS_MAX, "How long an inbox remembers ids.")},
    {INT_FIELD(IN_BODY, "history_ms", 0, PAWL_HISTORY_MS_MAX,
               "How long done messages are kept; 0 keeps none.")},
    {INT_FIELD(IN_BODY, "max_attempts", 1, PAWL_ATTEMPTS_MAX,
               "Attempts before a message becomes a dead letter.")},
    {CHOICE_FIELD(IN_BODY, "dead_policy", "block|skip|park",
                  "What happens to a stream when one of its messages becomes a dead letter.")}};

static const struct operation checks[] = {
    {COMMAND("check", "Check every invariant of the stored state"),
     .details = "Exits with 0 when the state is sound, with 1 when it is not and with 72 when the SQLite "
                "file itself is damaged; JSON is the list of violations, empty when there are none.",
     .empty = "sound: every invariant holds", ACTS(METHOD_GET, "/v1/check", "check", "database"),
     COLUMNS(check_columns), .run = check_invariants},
};

static const struct operation settings[] = {
    {COMMAND("settings show", "Show the settings of the schema"), .alias = "settings",
     READS("/v1/settings", "readSettings", "database"), RECORD(setting_columns), .run = settings_show},
    {COMMAND("settings set", "Change the settings of the schema"), .arguments = "KEY=VALUE...",
     .arguments_max = SETTINGS, .check = settings_words, .writes = true,
     .details =
         "The keys are instance_lease (an instance that is silent for longer loses its work), stale (when "
         "the row of a silent instance is removed), dedupe (how long an inbox remembers ids), history (how "
         "long completed messages are kept; 0 keeps none), max_attempts, and dead_policy: block (the stream "
         "stops), skip (it continues) or park (its later messages are parked with the dead letter).",
     .example = "pawl settings set max_attempts=10 history=30d",
     PUTS("/v1/settings", "changeSettings", "database"),
     .route_summary = "Change the settings of the schema; omitted ones are unchanged", FIELDS(setting_fields),
     RECORD(setting_columns), .run = settings_set},
};

static const struct operation upkeep[] = {
    {COMMAND("maintain", "Remove what is no longer needed, and end expired claims"), .writes = true,
     .details = "Workers do this by themselves; if none is running, or you cannot wait, run it by hand or "
                "from a timer. It works in short transactions and is safe at any time.",
     POSTS("/v1/maintain", "maintain", "database"),
     .route_summary =
         "Remove what is no longer needed, and end expired claims, one round; ask again for more",
     RECORD(upkeep_columns), .run = maintain},
};

const struct operation_table check_operations = OPERATION_TABLE(checks);
const struct operation_table setting_operations = OPERATION_TABLE(settings);
const struct operation_table upkeep_operations = OPERATION_TABLE(upkeep);
