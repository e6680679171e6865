/* pawl alerts: the rules, whether they fire, silence, tests and what happened. */
#include "cli/commands.h"
#include "operations/operations.h"

static const struct command commands[] = {
    {COMMAND("alerts list", "List the alert rules with their states"), .alias = "alerts",
     .flags = FLAG(FIRING),
     .details = "ok: the value is fine. pending: it is not, but not for long enough yet. firing. silenced: "
                "firing, but no alert is sent. off: disabled. Workers and the server evaluate the rules, one "
                "of them every 60 seconds (docs/alerts.md).",
     .example = "pawl alerts\npawl alerts list --firing | jq -r '.[].name'", .empty = "nothing fires",
     .operation = op_alert_list},
    {COMMAND("alerts show", "Show one alert rule"), .arguments = "NAME", .operation = op_alert_show},
    {COMMAND("alerts set", "Create or change an alert rule; what is left out stays as it is"),
     .arguments = "NAME",
     .flags = FLAG(METRIC) | FLAG(ABOVE) | FLAG(BELOW) | FLAG(CLEAR_AT) | FLAG(FOR) | FLAG(CLEAR) |
              FLAG(SEVERITY) | FLAG(TARGETS) | FLAG(SUMMARY) | FLAG(DRY_RUN),
     .writes = true,
     .example =
         "pawl alerts set outbox-backlog --above 50000 --for 5m\n"
         "pawl alerts set night-jobs --metric jobs_ready --above 1000 --clear-at 100 --targets log,pager",
     .operation = op_alert_set},
    {COMMAND("alerts remove", "Remove an alert rule; its history stays"), .arguments = "NAME",
     .flags = FLAG(DRY_RUN), .writes = true, .operation = op_alert_remove},
    {COMMAND("alerts enable", "Enable a rule"), .arguments = "NAME", .flags = FLAG(DRY_RUN), .writes = true,
     .operation = op_alert_enable},
    {COMMAND("alerts disable", "Disable a rule; a firing alert is resolved"), .arguments = "NAME",
     .flags = FLAG(DRY_RUN), .writes = true, .operation = op_alert_disable},
    {COMMAND("alerts silence", "Silence a rule for a while"), .arguments = "NAME",
     .flags = FLAG(FOR) | FLAG(REASON), .writes = true,
     .details =
         "It is still evaluated and shown. If it still fires when the silence ends, the alert is sent then.",
     .example = "pawl alerts silence worker-lost --for 2h --reason 'kernel update'",
     .operation = op_alert_silence},
    {COMMAND("alerts unsilence", "End the silence of a rule"), .arguments = "NAME", .writes = true,
     .operation = op_alert_unsilence},
    {COMMAND("alerts test", "Send a test to the targets of a rule"), .arguments = "NAME",
     .flags = FLAG(DRY_RUN), .writes = true,
     .details = "It is delivered like an alert, by a process that knows the targets; pawl alerts history "
                "shows the result.",
     .operation = op_alert_try},
    {COMMAND("alerts history", "List fired and resolved alerts, newest first"), .arguments = "[NAME]",
     .flags = FLAG(LIMIT) | FLAG(AFTER),
     .details = "delivered, waiting and failed count the targets. --after takes the number of the last row "
                "of the page before.",
     .empty = "nothing has fired", .operation = op_alert_history},
    {COMMAND("alerts metrics", "List the metrics for alert rules"), .database = DATABASE_NONE,
     .operation = op_alert_metrics_list},
};

const struct command_table alerts_commands = COMMAND_TABLE(commands);
