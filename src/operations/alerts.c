/* Operations on alerts: rules with their states, silences, tests, history. */
#include "base/error.h"
#include "base/str.h"
#include "operations/tables.h"
#include "view/alert.h"
#include "work/alerts/round.h"

static const struct column test_columns[] = {
    {COLUMN(TEXT, "rule")}, {COLUMN(TEXT, "targets")}, {COLUMN(UUID, "id")}};
static const struct column deleted_columns[] = {{COLUMN(TEXT, "name")}, {COLUMN(TEXT, "answer")}};

static pawl_status find(struct request *request, struct alert_row *row, int64_t *now_ms, pawl_error *err) {
    struct alert_rows rows;
    pawl_str name = request_text(request, "name");
    TRY(request->store->ops->alerts->rules(request->store, name, request->arena, &rows, err));
    if (rows.count == 0) {
        request_hint(request, "pawl alert list shows the rules.");
        return request_not_found("alerts", "alert rule", name, err);
    }
    *row = rows.rows[0];
    *now_ms = rows.now_ms;
    return PAWL_OK;
}

static pawl_status show(struct request *request, const struct alert_row *row, int64_t now_ms,
                        pawl_error *err) {
    struct cell cells[ALERT_COLUMNS];
    alert_cells(row, now_ms, cells);
    return request_record(request, alert_columns, ALERT_COLUMNS, cells, err);
}

static pawl_status alert_show(struct request *request, pawl_error *err) {
    struct alert_row row = {0};
    int64_t now_ms = 0;
    TRY(find(request, &row, &now_ms, err));
    return show(request, &row, now_ms, err);
}

static pawl_status alert_list(struct request *request, pawl_error *err) {
    struct alert_rows rows;
    TRY(request->store->ops->alerts->rules(request->store, (pawl_str){NULL, 0}, request->arena, &rows, err));
    request_list(request, alert_columns, ALERT_COLUMNS);
    for (size_t i = 0; i < rows.count; i++) {
        struct cell cells[ALERT_COLUMNS];
        alert_cells(&rows.rows[i], rows.now_ms, cells);
        if (!request_bool(request, "firing") || rows.rows[i].state.phase == ALERT_FIRING)
            request_row(request, cells);
    }
    return request_list_end(request, NULL, err);
}

/* ---- Changing */

static pawl_status store_rule(struct request *request, struct alert_row *row, pawl_error *err) {
    int64_t now_ms = 0, version;
    if (request_dry(request)) {
        TRY(alert_rule_check(&row->rule, err));
        request_say(request, "the rule would become:");
        TRY(request->store->ops->core.clock_read(request->store, &now_ms, err));
        return show(request, row, now_ms, err);
    }
    TRY(request->store->ops->alerts->rule_put(request->store, &row->rule, &version, err));
    return alert_show(request, err);
}

/* The side and the threshold: --above N, or side and threshold apart. */
static pawl_status read_threshold(const struct request *request, struct alert_rule *rule, pawl_error *err) {
    struct value above = request_value(request, "above"), below = request_value(request, "below");
    int side = request_choice(request, "side");
    if (above.present && below.present)
        return error_set(err, PAWL_INVALID, "alerts", "a rule has --above or --below, not both");
    if (side != 0)
        rule->side = (enum alert_side)side;
    if (above.present || below.present)
        rule->side = above.present ? ALERT_ABOVE : ALERT_BELOW;
    rule->threshold = request_number(request, "threshold",
                                     above.present   ? above.number
                                     : below.present ? below.number
                                                     : rule->threshold);
    return PAWL_OK;
}

static void take_text(const struct request *request, const char *name, pawl_str *text) {
    pawl_str given = request_text(request, name);
    if (!str_absent(given))
        *text = given;
}

/* What is left out stays; of a new rule it is the default. */
static pawl_status merge(const struct request *request, struct alert_rule *rule, pawl_error *err) {
    int64_t before = rule->threshold;
    TRY(read_threshold(request, rule, err));
    take_text(request, "metric", &rule->metric);
    take_text(request, "summary", &rule->summary);
    take_text(request, "targets", &rule->targets);
    if (request_choice(request, "severity") != 0)
        rule->severity = (enum alert_severity)request_choice(request, "severity");
    rule->clear_threshold =
        request_number(request, "clear_threshold",
                       rule->clear_threshold == before ? rule->threshold : rule->clear_threshold);
    rule->for_ms = request_number(request, "for_ms", rule->for_ms);
    rule->clear_ms = request_number(request, "clear_ms", rule->clear_ms);
    rule->enabled = request_number(request, "enabled", rule->enabled) != 0;
    rule->version = request_number(request, "expected_version", rule->version);
    return PAWL_OK;
}

/* A rule that is not there yet. */
static pawl_status begin_rule(const struct request *request, struct alert_row *row, pawl_error *err) {
    bool threshold = request_value(request, "threshold").present || request_value(request, "above").present ||
                     request_value(request, "below").present;
    pawl_str name = request_text(request, "name");
    *row = (struct alert_row){.rule = {.name = name,
                                       .targets = STR("log"),
                                       .side = ALERT_ABOVE,
                                       .severity = ALERT_WARNING,
                                       .enabled = true},
                              .state = {.phase = ALERT_OK}};
    if (threshold && request_value(request, "metric").present)
        return PAWL_OK;
    request_hint(request, "pawl alert list shows the rules, pawl alert metrics what one can look at.");
    return error_set(err, PAWL_INVALID, "alerts", "there is no rule '%.*s' yet: a new one needs %s",
                     STR_ARG(name),
                     request_is_command(request) ? "--metric, and --above or --below"
                                                 : "at least a metric and a threshold");
}

static pawl_status alert_set(struct request *request, pawl_error *err) {
    struct alert_row row = {0};
    int64_t now_ms = 0;
    pawl_status status = find(request, &row, &now_ms, err);
    if (status == PAWL_NOT_FOUND)
        status = begin_rule(request, &row, err);
    if (status == PAWL_OK)
        status = merge(request, &row.rule, err);
    return status == PAWL_OK ? store_rule(request, &row, err) : status;
}

static pawl_status switch_rule(struct request *request, bool on, pawl_error *err) {
    struct alert_row row = {0};
    int64_t now_ms = 0;
    TRY(find(request, &row, &now_ms, err));
    row.rule.enabled = on;
    return store_rule(request, &row, err);
}

static pawl_status alert_resume(struct request *request, pawl_error *err) {
    return switch_rule(request, true, err);
}

static pawl_status alert_pause(struct request *request, pawl_error *err) {
    return switch_rule(request, false, err);
}

static pawl_status alert_remove(struct request *request, pawl_error *err) {
    struct alert_row row = {0};
    int64_t now_ms = 0;
    TRY(find(request, &row, &now_ms, err));
    if (!request_dry(request))
        TRY(request->store->ops->alerts->rule_remove(request->store, row.rule.name, err));
    return REQUEST_RECORD(request, deleted_columns, err, cell_text(row.rule.name),
                          cell_cstr(request_dry(request) ? "dry run" : "deleted"));
}

/* ---- Silence and tests */

static pawl_status set_silence(struct request *request, int64_t for_ms, pawl_error *err) {
    struct alert_row row = {0};
    int64_t now_ms = 0;
    TRY(find(request, &row, &now_ms, err));
    struct alert_silence in = {.name = row.rule.name,
                               .actor = request->front->actor(request->self),
                               .reason = request_text(request, "reason"),
                               .until_ms = for_ms > 0 ? now_ms + for_ms : 0};
    TRY(request->store->ops->alerts->silence(request->store, &in, err));
    return alert_show(request, err);
}

static pawl_status alert_silence(struct request *request, pawl_error *err) {
    return set_silence(request, request_number(request, "for_ms", 0), err);
}

static pawl_status alert_unsilence(struct request *request, pawl_error *err) {
    return set_silence(request, 0, err);
}

static pawl_status alert_try(struct request *request, pawl_error *err) {
    struct alert_row row = {0};
    int64_t now_ms = 0;
    pawl_uuid id = {{0}};
    TRY(find(request, &row, &now_ms, err));
    if (!request_dry(request))
        TRY(alert_test(request->store, &row, now_ms, request->arena, &id, err));
    return REQUEST_RECORD(request, test_columns, err, cell_text(row.rule.name), cell_text(row.rule.targets),
                          cell_uuid(id));
}

/* ---- What happened, and what can be looked at */

static pawl_status alert_history(struct request *request, pawl_error *err) {
    struct alert_changes found = {0};
    int limit = request_limit(request);
    TRY(request->store->ops->alerts->changes(request->store, request_text(request, "name"),
                                             request_after_number(request), limit, request->arena, &found,
                                             err));
    REQUEST_CELLS(request, change, found.changes, found.count);
    bool full = found.count > 0 && found.count == (size_t)limit;
    return request_list_end_number(request, full ? found.changes[found.count - 1].number : 0, err);
}

static pawl_status alert_metrics_list(struct request *request, pawl_error *err) {
    request_list(request, metric_columns, METRIC_COLUMNS);
    for (int metric = 0; metric < METRIC_COUNT; metric++) {
        struct cell cells[METRIC_COLUMNS];
        metric_cells((enum alert_metric)metric, cells);
        request_row(request, cells);
    }
    return request_list_end(request, NULL, err);
}

/* ---- The table */

#define RULE_NAME FIELD_ROW_NAME("The rule.")

static const struct field list_fields[] = {{BOOL_FIELD(IN_QUERY, "firing", "Only rules that are firing.")}};
static const struct field name_fields[] = {RULE_NAME};
static const struct field act_fields[] = {RULE_NAME, FLAG_DRY_RUN};
static const struct field set_fields[] = {
    RULE_NAME,
    {TEXT_FIELD(IN_BODY, "metric", PAWL_ALERT_NAME_BYTES_MAX,
                "The metric that the rule watches; pawl alert metrics lists them."),
     .example = "\"jobs_ready\""},
    {INT_FIELD(IN_BODY, "above", INT64_MIN, INT64_MAX,
               "The rule holds while the value is greater than this."),
     .example = "1000"},
    {INT_FIELD(IN_BODY, "below", INT64_MIN, INT64_MAX, "The rule holds while the value is less than this.")},
    {CHOICE_FIELD(IN_BODY, "side", ALERT_SIDES,
                  "The side of the threshold on which the rule holds; above by default.")},
    {INT_FIELD(IN_BODY, "threshold", INT64_MIN, INT64_MAX, "The rule holds beyond this value, not at it.")},
    {INT_FIELD(IN_BODY, "clear_threshold", INT64_MIN, INT64_MAX,
               "A firing rule resolves when the value is back at this; the threshold by default.")},
    {DURATION_FIELD(IN_BODY, "for_ms", 0, PAWL_ALERT_HOLD_MS_MAX,
                    "How long the rule must hold before it fires.")},
    {DURATION_FIELD(IN_BODY, "clear_ms", 0, PAWL_ALERT_HOLD_MS_MAX,
                    "How long the rule must not hold before the alert is resolved.")},
    {CHOICE_FIELD(IN_BODY, "severity", ALERT_SEVERITIES, "Warning by default.")},
    {TEXT_FIELD(IN_BODY, "targets", PAWL_METADATA_BYTES_MAX,
                "Where alerts go: log, message, or names from --alert-targets, separated by commas."),
     .value = "NAME[,NAME]"},
    {TEXT_FIELD(IN_BODY, "summary", PAWL_ALERT_SUMMARY_BYTES_MAX, "A description for people.")},
    {BOOL_FIELD(IN_BODY, "enabled", "Whether it is evaluated.")},
    {INT_FIELD(IN_BODY, "expected_version", 1, INT64_MAX,
               "The version that was read; a different one is a conflict.")},
    FLAG_DRY_RUN};
static const struct field silence_fields[] = {
    RULE_NAME,
    {DURATION_FIELD(IN_BODY, "for_ms", 1000, PAWL_ALERT_SILENCE_MS_MAX, "For how long, from now."),
     .required = true}};
static const struct field change_fields[] = {
    {TEXT_FIELD(IN_QUERY, "name", PAWL_ALERT_NAME_BYTES_MAX, "Only of this rule."), .word = true}};

static const struct operation operations[] = {
    {OPERATION("alert.list", "List the alert rules with their states"), READS("/v1/alerts"),
     FIELDS(list_fields), COLUMNS(alert_columns), .run = alert_list,
     .details = "ok: the value is fine. pending: it is not, but not for long enough yet. firing. silenced: "
                "firing, but no alert is sent. off: paused. Workers and the server evaluate the rules, one "
                "of them every 60 seconds (docs/alerts.md).",
     .example = "pawl alert list --firing | jq -r '.[].name'", .empty = "nothing fires"},
    {OPERATION("alert.show", "Show one alert rule"), READS("/v1/alerts/{name}"), FIELDS(name_fields),
     RECORD(alert_columns), .run = alert_show},
    {OPERATION("alert.history", "List fired and resolved alerts, newest first"), READS("/v1/alerts/history"),
     FIELDS(change_fields), .paged = PAGED, COLUMNS(change_columns), .run = alert_history,
     .details = "delivered, waiting and failed count the targets.", .empty = "nothing has fired"},
    {OPERATION("alert.metrics", "List the metrics for alert rules"), READS("/v1/alerts/metrics"),
     COLUMNS(metric_columns), .run = alert_metrics_list, .database = DATABASE_NONE},
    {OPERATION("alert.set", "Create or change an alert rule; what is left out stays as it is"),
     PUTS("/v1/alerts/{name}"), FIELDS(set_fields), RECORD(alert_columns), .run = alert_set,
     .example = "pawl alert set outbox-backlog --above 50000 --for 5m\n"
                "pawl alert set night-jobs --metric jobs_ready --above 1000 --clear-threshold 100 --targets "
                "log,pager"},
    {OPERATION("alert.delete", "Delete an alert rule; its history stays"), DELETES("/v1/alerts/{name}"),
     FIELDS(act_fields), RECORD(deleted_columns), .run = alert_remove},
    {OPERATION("alert.pause", "Stop evaluating a rule; a firing alert is resolved"),
     POSTS("/v1/alerts/{name}/pause"), FIELDS(act_fields), RECORD(alert_columns), .run = alert_pause},
    {OPERATION("alert.resume", "Evaluate a paused rule again"), POSTS("/v1/alerts/{name}/resume"),
     FIELDS(act_fields), RECORD(alert_columns), .run = alert_resume},
    {OPERATION("alert.silence", "Silence a rule for a while"), POSTS("/v1/alerts/{name}/silence"),
     FIELDS(silence_fields), RECORD(alert_columns), .run = alert_silence,
     .details =
         "It is still evaluated and shown. If it still fires when the silence ends, the alert is sent then.",
     .example = "pawl alert silence worker-lost --for 2h --reason 'kernel update'"},
    {OPERATION("alert.unsilence", "End the silence of a rule"), DELETES("/v1/alerts/{name}/silence"),
     FIELDS(name_fields), RECORD(alert_columns), .run = alert_unsilence},
    {OPERATION("alert.test", "Send a test to the targets of a rule"), POSTS("/v1/alerts/{name}/test"),
     FIELDS(act_fields), RECORD(test_columns), .run = alert_try,
     .details = "It is delivered like an alert, by a process that knows the targets; pawl alert history "
                "shows the result."},
};

const struct operation_table alert_operations = OPERATION_TABLE(operations);
