/* Routes of alerts: rules with their states, silences, tests, history. */
#include "operations/alerts.h"
#include "base/limits.h"
#include "operations/operations.h"
#include "server/api/fields.h"
#include "view/alert.h"

#define RULE_NAME FIELD_ROW_NAME("Of the rule.")

static const struct field name_fields[] = {RULE_NAME};
static const struct field put_fields[] = {
    RULE_NAME,
    {TEXT_FIELD(IN_BODY, "metric", PAWL_ALERT_NAME_BYTES_MAX,
                "The metric to watch; GET /v1/alert-metrics lists them.")},
    {CHOICE_FIELD(IN_BODY, "side", ALERT_SIDES,
                  "The side of the threshold on which the condition is true; above by default.")},
    {INT_FIELD(IN_BODY, "threshold", INT64_MIN, INT64_MAX,
               "The condition is true beyond this value, not at it.")},
    {INT_FIELD(
        IN_BODY, "clear_threshold", INT64_MIN, INT64_MAX,
        "Once firing, the condition stays true until the value is back at this; the threshold by default.")},
    {INT_FIELD(IN_BODY, "for_ms", 0, PAWL_ALERT_HOLD_MS_MAX,
               "How long the condition must be true before it fires.")},
    {INT_FIELD(IN_BODY, "clear_ms", 0, PAWL_ALERT_HOLD_MS_MAX,
               "How long the condition must be false before it is resolved.")},
    {CHOICE_FIELD(IN_BODY, "severity", ALERT_SEVERITIES, "Warning by default.")},
    {TEXT_FIELD(IN_BODY, "targets", PAWL_METADATA_BYTES_MAX,
                "Names separated by commas: log, message, and those defined in --alert-targets.")},
    {TEXT_FIELD(IN_BODY, "summary", PAWL_ALERT_SUMMARY_BYTES_MAX, "A description for people.")},
    {FIELD(FIELD_BOOL, IN_BODY, "enabled", "Whether it is evaluated.")},
    {INT_FIELD(IN_BODY, "version", 1, INT64_MAX,
               "The version that was read; a different one is a conflict.")}};
static const struct field silence_fields[] = {
    RULE_NAME,
    {INT_FIELD(IN_BODY, "duration_ms", 1000, PAWL_ALERT_SILENCE_MS_MAX, "For how long, from now."),
     .required = true},
    {TEXT_FIELD(IN_BODY, "reason", PAWL_ALERT_SUMMARY_BYTES_MAX, "Shown to others.")}};
static const struct field change_fields[] = {
    {TEXT_FIELD(IN_QUERY, "rule", PAWL_ALERT_NAME_BYTES_MAX, "Only of this rule.")},
    FIELD_ROW_CURSOR,
    FIELD_ROW_LIMIT};

#define SHOWS .shape = ANSWER_RECORD, COLUMNS(alert_columns)

static const struct route routes[] = {
    {READS("/v1/alerts", "listAlerts"), .tag = "alerts", .summary = "List the alert rules with their states",
     COLUMNS(alert_columns), .operation = op_alert_list},
    {READS("/v1/alerts/{name}", "readAlert"), .tag = "alerts", .summary = "One alert rule with its state",
     FIELDS(name_fields), SHOWS, .operation = op_alert_show},
    {ACTS(METHOD_PUT, "/v1/alerts/{name}", "putAlert"), .tag = "alerts",
     .summary = "Create or change an alert rule; what is left out stays as it is", FIELDS(put_fields), SHOWS,
     .operation = op_alert_set},
    {ACTS(METHOD_DELETE, "/v1/alerts/{name}", "removeAlert"), .tag = "alerts",
     .summary = "Remove an alert rule; its history stays", FIELDS(name_fields), .shape = ANSWER_EMPTY,
     .status = 204, .operation = op_alert_remove},
    {ACTS(METHOD_POST, "/v1/alerts/{name}/silence", "silenceAlert"), .tag = "alerts",
     .summary = "Silence this rule for a while", FIELDS(silence_fields), SHOWS,
     .operation = op_alert_silence},
    {ACTS(METHOD_DELETE, "/v1/alerts/{name}/silence", "unsilenceAlert"), .tag = "alerts",
     .summary = "End the silence of a rule", FIELDS(name_fields), SHOWS, .operation = op_alert_unsilence},
    {ACTS(METHOD_POST, "/v1/alerts/{name}/test", "testAlert"), .tag = "alerts",
     .summary = "Send a test to the targets of a rule", FIELDS(name_fields), .shape = ANSWER_RECORD,
     COLUMNS(alert_test_columns), .operation = op_alert_try},
    {READS("/v1/alert-changes", "listAlertChanges"), .tag = "alerts",
     .summary = "List fired and resolved alerts, newest first", FIELDS(change_fields),
     COLUMNS(change_columns), .operation = op_alert_history},
    {READS("/v1/alert-metrics", "listAlertMetrics"), .tag = "alerts",
     .summary = "List the metrics a rule can watch", COLUMNS(metric_columns),
     .operation = op_alert_metrics_list},
};

const struct route_table alert_routes = ROUTE_TABLE(routes);
