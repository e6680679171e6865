/* Alerts: the rules with their states, silence, tests and what happened. */
#include <inttypes.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "server/api/fields.h"
#include "server/http/call.h"
#include "view/alert.h"
#include "work/alerts/round.h"

static pawl_status list(struct call *call, pawl_error *err) {
    struct alert_rows rows;
    pawl_status status =
        call->store->ops->alerts->rules(call->store, (pawl_str){NULL, 0}, call->arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    call_list(call);
    for (size_t i = 0; i < rows.count; i++) {
        struct cell cells[ALERT_COLUMNS];
        alert_cells(&rows.rows[i], rows.now_ms, cells);
        call_row(call, cells);
    }
    return call_list_end(call, NULL, err);
}

static pawl_status find(struct call *call, struct alert_row *row, int64_t *now_ms, pawl_error *err) {
    struct alert_rows rows;
    pawl_str name = call_text(call, "name");
    pawl_status status = call->store->ops->alerts->rules(call->store, name, call->arena, &rows, err);
    if (status == PAWL_OK && rows.count == 0)
        status = error_set(err, PAWL_NOT_FOUND, "alerts", "there is no alert rule '%.*s'", STR_ARG(name));
    if (status != PAWL_OK)
        return status;
    *row = rows.rows[0];
    *now_ms = rows.now_ms;
    return PAWL_OK;
}

static pawl_status show(struct call *call, pawl_error *err) {
    struct alert_row row;
    struct cell cells[ALERT_COLUMNS];
    int64_t now_ms;
    pawl_status status = find(call, &row, &now_ms, err);
    if (status != PAWL_OK)
        return status;
    alert_cells(&row, now_ms, cells);
    call_record(call, cells);
    return PAWL_OK;
}

/* What is left out stays; of a new rule it is the default. */
static void merge(const struct call *call, struct alert_rule *rule) {
    const struct value *enabled = call_value(call, "enabled");
    int64_t before = rule->threshold;
    if (!str_absent(call_text(call, "metric")))
        rule->metric = call_text(call, "metric");
    if (!str_absent(call_text(call, "summary")))
        rule->summary = call_text(call, "summary");
    if (!str_absent(call_text(call, "targets")))
        rule->targets = call_text(call, "targets");
    if (call_choice(call, "side") != 0)
        rule->side = (enum alert_side)call_choice(call, "side");
    if (call_choice(call, "severity") != 0)
        rule->severity = (enum alert_severity)call_choice(call, "severity");
    rule->threshold = call_int(call, "threshold", rule->threshold);
    rule->clear_threshold = call_int(
        call, "clear_threshold", rule->clear_threshold == before ? rule->threshold : rule->clear_threshold);
    rule->for_ms = call_int(call, "for_ms", rule->for_ms);
    rule->clear_ms = call_int(call, "clear_ms", rule->clear_ms);
    if (enabled->present)
        rule->enabled = enabled->number != 0;
    rule->version = call_int(call, "version", 0);
}

static pawl_status put(struct call *call, pawl_error *err) {
    struct alert_row row;
    int64_t now_ms, version;
    pawl_status status = find(call, &row, &now_ms, err);
    if (status == PAWL_NOT_FOUND) {
        row = (struct alert_row){.rule = {.name = call_text(call, "name"),
                                          .targets = STR("log"),
                                          .side = ALERT_ABOVE,
                                          .severity = ALERT_WARNING,
                                          .enabled = true}};
        bool whole = !str_absent(call_text(call, "metric")) && call_value(call, "threshold")->present;
        status = whole ? PAWL_OK
                       : error_set(err, PAWL_INVALID, "alerts",
                                   "a new rule needs at least a metric and a threshold");
    }
    if (status != PAWL_OK)
        return status;
    merge(call, &row.rule);
    status = call->store->ops->alerts->rule_put(call->store, &row.rule, &version, err);
    return status == PAWL_OK ? show(call, err) : status;
}

static pawl_status remove_rule(struct call *call, pawl_error *err) {
    return call->store->ops->alerts->rule_remove(call->store, call_text(call, "name"), err);
}

static pawl_status silence(struct call *call, pawl_error *err) {
    struct alert_silence in = {
        .name = call_text(call, "name"), .reason = call_text(call, "reason"), .actor = call_actor(call)};
    pawl_status status = call->store->ops->core.clock_read(call->store, &in.until_ms, err);
    in.until_ms += call_int(call, "duration_ms", 0);
    if (status == PAWL_OK)
        status = call->store->ops->alerts->silence(call->store, &in, err);
    return status == PAWL_OK ? show(call, err) : status;
}

static pawl_status unsilence(struct call *call, pawl_error *err) {
    struct alert_silence in = {.name = call_text(call, "name"), .actor = call_actor(call)};
    pawl_status status = call->store->ops->alerts->silence(call->store, &in, err);
    return status == PAWL_OK ? show(call, err) : status;
}

static pawl_status test(struct call *call, pawl_error *err) {
    struct alert_row row;
    int64_t now_ms;
    pawl_uuid id;
    pawl_status status = find(call, &row, &now_ms, err);
    if (status == PAWL_OK)
        status = alert_test(call->store, &row, now_ms, call->arena, &id, err);
    if (status == PAWL_OK)
        call_record(call, (struct cell[]){cell_uuid(id), cell_text(row.rule.targets)});
    return status;
}

static pawl_status list_changes(struct call *call, pawl_error *err) {
    struct alert_changes found;
    int limit = call_limit(call);
    pawl_status status = call->store->ops->alerts->changes(
        call->store, call_text(call, "rule"), call_cursor_number(call), limit, call->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    CALL_ROWS(call, change, found.changes, found.count);
    const char *next = found.count == (size_t)limit
                           ? arena_printf(call->arena, "%" PRId64, found.changes[found.count - 1].number)
                           : NULL;
    return call_list_end(call, next, err);
}

static pawl_status list_metrics(struct call *call, pawl_error *err) {
    call_list(call);
    for (int metric = 0; metric < METRIC_COUNT; metric++) {
        struct cell cells[METRIC_COLUMNS];
        metric_cells((enum alert_metric)metric, cells);
        call_row(call, cells);
    }
    return call_list_end(call, NULL, err);
}

/* ---- Fields and routes */

#define RULE_NAME FIELD_ROW_NAME("Of the rule.")

static const struct field name_fields[] = {RULE_NAME};
static const struct field put_fields[] = {
    RULE_NAME,
    {TEXT_FIELD(IN_BODY, "metric", PAWL_ALERT_NAME_BYTES_MAX,
                "What it looks at, one of the list of metrics.")},
    {CHOICE_FIELD(IN_BODY, "side", ALERT_SIDES,
                  "On which side of the threshold it holds; above without it.")},
    {INT_FIELD(IN_BODY, "threshold", INT64_MIN, INT64_MAX, "Beyond it, never at it, the rule holds.")},
    {INT_FIELD(IN_BODY, "clear_threshold", INT64_MIN, INT64_MAX,
               "A rule that fires holds until the value is back at this; the threshold without it.")},
    {INT_FIELD(IN_BODY, "for_ms", 0, PAWL_ALERT_HOLD_MS_MAX, "How long it must hold before it fires.")},
    {INT_FIELD(IN_BODY, "clear_ms", 0, PAWL_ALERT_HOLD_MS_MAX,
               "How long it must not hold before it resolves.")},
    {CHOICE_FIELD(IN_BODY, "severity", ALERT_SEVERITIES, "Warning without it.")},
    {TEXT_FIELD(IN_BODY, "targets", PAWL_METADATA_BYTES_MAX,
                "Names separated by commas: log, message, and those of --alert-targets.")},
    {TEXT_FIELD(IN_BODY, "summary", PAWL_ALERT_SUMMARY_BYTES_MAX, "A description for people.")},
    {FIELD(FIELD_BOOL, IN_BODY, "enabled", "Whether it is evaluated.")},
    {INT_FIELD(IN_BODY, "version", 1, INT64_MAX, "The version that was read; another one is a conflict.")}};
static const struct field silence_fields[] = {
    RULE_NAME,
    {INT_FIELD(IN_BODY, "duration_ms", 1000, PAWL_ALERT_SILENCE_MS_MAX, "For how long, from now."),
     .required = true},
    {TEXT_FIELD(IN_BODY, "reason", PAWL_ALERT_SUMMARY_BYTES_MAX, "Shown to others.")}};
static const struct field change_fields[] = {
    {TEXT_FIELD(IN_QUERY, "rule", PAWL_ALERT_NAME_BYTES_MAX, "Only of this rule.")},
    FIELD_ROW_CURSOR,
    FIELD_ROW_LIMIT};
static const struct column test_columns[] = {{COLUMN(UUID, "id")}, {COLUMN(TEXT, "targets")}};

#define SHOWS .shape = ANSWER_RECORD, COLUMNS(alert_columns)

static const struct route routes[] = {
    {READS("/v1/alerts", "listAlerts"), .tag = "alerts", .summary = "List the alert rules with their states",
     COLUMNS(alert_columns), .run = list},
    {READS("/v1/alerts/{name}", "readAlert"), .tag = "alerts", .summary = "One alert rule with its state",
     FIELDS(name_fields), SHOWS, .run = show},
    {ACTS(METHOD_PUT, "/v1/alerts/{name}", "putAlert"), .tag = "alerts",
     .summary = "Create or change an alert rule; what is left out stays as it is", FIELDS(put_fields), SHOWS,
     .run = put},
    {ACTS(METHOD_DELETE, "/v1/alerts/{name}", "removeAlert"), .tag = "alerts",
     .summary = "Remove an alert rule; its history stays", FIELDS(name_fields), .shape = ANSWER_EMPTY,
     .status = 204, .run = remove_rule},
    {ACTS(METHOD_POST, "/v1/alerts/{name}/silence", "silenceAlert"), .tag = "alerts",
     .summary = "Silence this rule for a while", FIELDS(silence_fields), SHOWS, .run = silence},
    {ACTS(METHOD_DELETE, "/v1/alerts/{name}/silence", "unsilenceAlert"), .tag = "alerts",
     .summary = "End the silence of a rule", FIELDS(name_fields), SHOWS, .run = unsilence},
    {ACTS(METHOD_POST, "/v1/alerts/{name}/test", "testAlert"), .tag = "alerts",
     .summary = "Send a test to the targets of a rule", FIELDS(name_fields), .shape = ANSWER_RECORD,
     COLUMNS(test_columns), .run = test},
    {READS("/v1/alert-changes", "listAlertChanges"), .tag = "alerts",
     .summary = "List fired and resolved alerts, newest first", FIELDS(change_fields),
     COLUMNS(change_columns), .run = list_changes},
    {READS("/v1/alert-metrics", "listAlertMetrics"), .tag = "alerts",
     .summary = "List what a rule can look at", COLUMNS(metric_columns), .run = list_metrics},
};

const struct route_table alert_routes = ROUTE_TABLE(routes);
