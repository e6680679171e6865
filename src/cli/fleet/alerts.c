/* pawl alerts: the rules, whether they fire, silence, tests and what happened. */
#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "cli/audit.h"
#include "cli/commands.h"
#include "view/alert.h"
#include "work/alerts/round.h"

static pawl_str word(const struct cli *cli) { return str_from(cli->arguments.words[0]); }

static pawl_status find(struct cli *cli, struct alert_row *row, int64_t *now_ms, pawl_error *err) {
    struct alert_rows rows;
    pawl_status status = cli->store->ops->alerts->rules(cli->store, word(cli), cli->arena, &rows, err);
    if (status == PAWL_OK && rows.count == 0) {
        cli->hint = "pawl alerts list shows the rules.";
        status =
            error_set(err, PAWL_NOT_FOUND, "alerts", "there is no alert rule '%s'", cli->arguments.words[0]);
    }
    if (status != PAWL_OK)
        return status;
    *row = rows.rows[0];
    *now_ms = rows.now_ms;
    return PAWL_OK;
}

static pawl_status print(struct cli *cli, const struct alert_row *row, int64_t now_ms, pawl_error *err) {
    struct cell cells[ALERT_COLUMNS];
    alert_cells(row, now_ms, cells);
    return output_record(&cli->output, alert_columns, ALERT_COLUMNS, cells, err);
}

static pawl_status list(struct cli *cli, pawl_error *err) {
    struct alert_rows rows;
    pawl_status status =
        cli->store->ops->alerts->rules(cli->store, (pawl_str){NULL, 0}, cli->arena, &rows, err);
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, alert_columns, ALERT_COLUMNS);
    for (size_t i = 0; i < rows.count; i++) {
        struct cell cells[ALERT_COLUMNS];
        bool firing = rows.rows[i].state.phase == ALERT_FIRING;
        alert_cells(&rows.rows[i], rows.now_ms, cells);
        if (!cli_flag(cli, FLAG_FIRING)->set || firing)
            output_list_row(&cli->output, cells);
    }
    return output_list_end(
        &cli->output, cli_flag(cli, FLAG_FIRING)->set ? "nothing fires" : "there are no alert rules", err);
}

static pawl_status show(struct cli *cli, pawl_error *err) {
    struct alert_row row;
    int64_t now_ms;
    pawl_status status = find(cli, &row, &now_ms, err);
    return status == PAWL_OK ? print(cli, &row, now_ms, err) : status;
}

/* ---- Changing */

static pawl_status store_rule(struct cli *cli, struct alert_row *row, const char *action, pawl_error *err) {
    int64_t now_ms, version;
    if (cli_flag(cli, FLAG_DRY_RUN)->set) {
        pawl_status status = alert_rule_check(&row->rule, err);
        output_say(&cli->output, "the rule would become:");
        return status == PAWL_OK ? print(cli, row, cli->output.now_ms, err) : status;
    }
    pawl_status status = cli->store->ops->alerts->rule_put(cli->store, &row->rule, &version, err);
    if (status == PAWL_OK)
        status = audit_note(cli, action, cli->arguments.words[0], err);
    if (status == PAWL_OK)
        status = find(cli, row, &now_ms, err);
    return status == PAWL_OK ? print(cli, row, now_ms, err) : status;
}

static pawl_status read_flags(const struct cli *cli, struct alert_rule *rule, pawl_error *err) {
    const struct flag_value *above = cli_flag(cli, FLAG_ABOVE), *below = cli_flag(cli, FLAG_BELOW);
    const struct flag_value *clear = cli_flag(cli, FLAG_CLEAR_AT);
    int64_t before = rule->threshold;
    if (above->set && below->set)
        return error_set(err, PAWL_INVALID, "alerts", "a rule has --above or --below, not both");
    if (above->set || below->set) {
        rule->side = above->set ? ALERT_ABOVE : ALERT_BELOW;
        rule->threshold = above->set ? above->number : below->number;
    }
    if (clear->set)
        rule->clear_threshold = clear->number;
    else if (rule->clear_threshold == before)
        rule->clear_threshold = rule->threshold;
    if (cli_flag(cli, FLAG_METRIC)->set)
        rule->metric = cli_flag(cli, FLAG_METRIC)->text;
    if (cli_flag(cli, FLAG_FOR)->set)
        rule->for_ms = cli_flag(cli, FLAG_FOR)->number;
    if (cli_flag(cli, FLAG_CLEAR)->set)
        rule->clear_ms = cli_flag(cli, FLAG_CLEAR)->number;
    if (cli_flag(cli, FLAG_SEVERITY)->set)
        rule->severity = (enum alert_severity)(ALERT_WARNING + cli_flag(cli, FLAG_SEVERITY)->number);
    if (cli_flag(cli, FLAG_TARGETS)->set)
        rule->targets = cli_flag(cli, FLAG_TARGETS)->text;
    if (cli_flag(cli, FLAG_SUMMARY)->set)
        rule->summary = cli_flag(cli, FLAG_SUMMARY)->text;
    return PAWL_OK;
}

static pawl_status set(struct cli *cli, pawl_error *err) {
    struct alert_row row;
    int64_t now_ms;
    bool threshold = cli_flag(cli, FLAG_ABOVE)->set || cli_flag(cli, FLAG_BELOW)->set;
    pawl_status status = find(cli, &row, &now_ms, err);
    if (status == PAWL_NOT_FOUND && (!cli_flag(cli, FLAG_METRIC)->set || !threshold)) {
        cli->hint = "pawl alerts list shows the rules, pawl alerts metrics what one can look at.";
        return error_set(err, PAWL_INVALID, "alerts",
                         "there is no rule '%s' yet: a new one needs --metric, and --above or --below",
                         cli->arguments.words[0]);
    }
    if (status == PAWL_NOT_FOUND) {
        row = (struct alert_row){
            .rule = {.name = word(cli), .targets = STR("log"), .severity = ALERT_WARNING, .enabled = true},
            .state = {.phase = ALERT_OK}};
        status = PAWL_OK;
    }
    if (status == PAWL_OK)
        status = read_flags(cli, &row.rule, err);
    return status == PAWL_OK ? store_rule(cli, &row, "alert set", err) : status;
}

static pawl_status switch_rule(struct cli *cli, bool on, pawl_error *err) {
    struct alert_row row;
    int64_t now_ms;
    pawl_status status = find(cli, &row, &now_ms, err);
    row.rule.enabled = on;
    return status == PAWL_OK ? store_rule(cli, &row, on ? "alert enable" : "alert disable", err) : status;
}

static pawl_status enable(struct cli *cli, pawl_error *err) { return switch_rule(cli, true, err); }

static pawl_status disable(struct cli *cli, pawl_error *err) { return switch_rule(cli, false, err); }

static pawl_status remove_rule(struct cli *cli, pawl_error *err) {
    struct alert_row row;
    int64_t now_ms;
    pawl_status status = find(cli, &row, &now_ms, err);
    if (status != PAWL_OK)
        return status;
    if (cli_flag(cli, FLAG_DRY_RUN)->set) {
        output_say(&cli->output, "the rule would be removed:");
        return print(cli, &row, now_ms, err);
    }
    status = cli->store->ops->alerts->rule_remove(cli->store, word(cli), err);
    if (status == PAWL_OK)
        status = audit_note(cli, "alert remove", cli->arguments.words[0], err);
    if (status == PAWL_OK)
        output_say(&cli->output, "removed; its history stays");
    return status;
}

/* ---- Silence and tests */

static pawl_status set_silence(struct cli *cli, int64_t for_ms, const char *action, pawl_error *err) {
    struct alert_row row;
    int64_t now_ms;
    struct alert_silence in = {.name = word(cli), .actor = audit_actor(cli)};
    pawl_status status = find(cli, &row, &now_ms, err);
    if (status != PAWL_OK)
        return status;
    in.until_ms = for_ms > 0 ? now_ms + for_ms : 0;
    if (cli_flag(cli, FLAG_REASON)->set)
        in.reason = cli_flag(cli, FLAG_REASON)->text;
    status = cli->store->ops->alerts->silence(cli->store, &in, err);
    if (status == PAWL_OK)
        status = audit_note_reason(cli, action, cli->arguments.words[0], err);
    return status == PAWL_OK ? show(cli, err) : status;
}

static pawl_status silence(struct cli *cli, pawl_error *err) {
    const struct flag_value *duration = cli_flag(cli, FLAG_FOR);
    if (!duration->set || duration->number == 0)
        return error_set(err, PAWL_INVALID, "alerts",
                         "say for how long with --for 2h: a silence that never ends is forgotten");
    return set_silence(cli, duration->number, "alert silence", err);
}

static pawl_status unsilence(struct cli *cli, pawl_error *err) {
    return set_silence(cli, 0, "alert unsilence", err);
}

static pawl_status test(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {
        {COLUMN(TEXT, "rule")}, {COLUMN(TEXT, "targets")}, {COLUMN(UUID, "id")}};
    struct alert_row row;
    int64_t now_ms;
    pawl_uuid id = {{0}};
    pawl_status status = find(cli, &row, &now_ms, err);
    if (status == PAWL_OK && !cli_flag(cli, FLAG_DRY_RUN)->set)
        status = alert_test(cli->store, &row, now_ms, cli->arena, &id, err);
    if (status == PAWL_OK && !cli_flag(cli, FLAG_DRY_RUN)->set)
        status = audit_note(cli, "alert test", cli->arguments.words[0], err);
    if (status != PAWL_OK)
        return status;
    struct cell cells[] = {cell_text(row.rule.name), cell_text(row.rule.targets), cell_uuid(id)};
    return output_record(&cli->output, columns, 3, cells, err);
}

static pawl_status history(struct cli *cli, pawl_error *err) {
    struct alert_changes found;
    pawl_str rule = cli->arguments.word_count > 0 ? word(cli) : (pawl_str){NULL, 0};
    const struct flag_value *after = cli_flag(cli, FLAG_AFTER);
    pawl_status status = cli->store->ops->alerts->changes(cli->store, rule, after->set ? after->number : 0,
                                                          cli_limit(cli), cli->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    OUTPUT_ROWS(&cli->output, change, found.changes, found.count);
    return output_list_end(&cli->output, "nothing has fired", err);
}

static pawl_status metrics(struct cli *cli, pawl_error *err) {
    output_list_begin(&cli->output, metric_columns, METRIC_COLUMNS);
    for (int metric = 0; metric < METRIC_COUNT; metric++) {
        struct cell cells[METRIC_COLUMNS];
        metric_cells((enum alert_metric)metric, cells);
        output_list_row(&cli->output, cells);
    }
    return output_list_end(&cli->output, "", err);
}

/* ---- The commands */

static const struct command commands[] = {
    {COMMAND("alerts list", "List the alert rules with their states"), .alias = "alerts",
     .flags = FLAG_BIT(FLAG_FIRING),
     .details = "ok: the value is fine. pending: it is not, but not for long enough yet. firing. silenced: "
                "firing, but no alert is sent. off: disabled. Workers and the server evaluate the rules, one "
                "of them every 60 seconds (docs/alerts.md).",
     .example = "pawl alerts\npawl alerts list --firing | jq -r '.[].name'", .run = list},
    {COMMAND("alerts show", "Show one alert rule"), .arguments = "NAME", .run = show},
    {COMMAND("alerts set", "Create or change an alert rule; what is left out stays as it is"),
     .arguments = "NAME",
     .flags = FLAG_BIT(FLAG_METRIC) | FLAG_BIT(FLAG_ABOVE) | FLAG_BIT(FLAG_BELOW) | FLAG_BIT(FLAG_CLEAR_AT) |
              FLAG_BIT(FLAG_FOR) | FLAG_BIT(FLAG_CLEAR) | FLAG_BIT(FLAG_SEVERITY) | FLAG_BIT(FLAG_TARGETS) |
              FLAG_BIT(FLAG_SUMMARY) | FLAG_BIT(FLAG_DRY_RUN),
     .writes = true,
     .example =
         "pawl alerts set outbox-backlog --above 50000 --for 5m\n"
         "pawl alerts set night-jobs --metric jobs_ready --above 1000 --clear-at 100 --targets log,pager",
     .run = set},
    {COMMAND("alerts remove", "Remove an alert rule; its history stays"), .arguments = "NAME",
     .flags = FLAG_BIT(FLAG_DRY_RUN), .writes = true, .run = remove_rule},
    {COMMAND("alerts enable", "Enable a rule"), .arguments = "NAME", .flags = FLAG_BIT(FLAG_DRY_RUN),
     .writes = true, .run = enable},
    {COMMAND("alerts disable", "Disable a rule; a firing alert is resolved"), .arguments = "NAME",
     .flags = FLAG_BIT(FLAG_DRY_RUN), .writes = true, .run = disable},
    {COMMAND("alerts silence", "Silence a rule for a while"), .arguments = "NAME",
     .flags = FLAG_BIT(FLAG_FOR) | FLAG_BIT(FLAG_REASON), .writes = true,
     .details =
         "It is still evaluated and shown. If it still fires when the silence ends, the alert is sent then.",
     .example = "pawl alerts silence worker-lost --for 2h --reason 'kernel update'", .run = silence},
    {COMMAND("alerts unsilence", "End the silence of a rule"), .arguments = "NAME", .writes = true,
     .run = unsilence},
    {COMMAND("alerts test", "Send a test to the targets of a rule"), .arguments = "NAME",
     .flags = FLAG_BIT(FLAG_DRY_RUN), .writes = true,
     .details = "It is delivered like an alert, by a process that knows the targets; pawl alerts history "
                "shows the result.",
     .run = test},
    {COMMAND("alerts history", "List fired and resolved alerts, newest first"), .arguments = "[NAME]",
     .flags = FLAG_BIT(FLAG_LIMIT) | FLAG_BIT(FLAG_AFTER),
     .details = "delivered, waiting and failed count the targets. --after takes the number of the last row "
                "of the page before.",
     .run = history},
    {COMMAND("alerts metrics", "List the metrics for alert rules"), .database = DATABASE_NONE,
     .run = metrics},
};

const struct command_table alerts_commands = COMMAND_TABLE(commands);
