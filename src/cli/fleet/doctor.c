/* pawl doctor: what endangers the work, why, and what to do. */
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/fault.h"
#include "work/doctor/doctor.h"

static const struct column columns[] = {
    {COLUMN(TEXT, "severity")},
    {COLUMN(TEXT, "check")},
    {COLUMN(TEXT, "found"), .cut = true},
    {COLUMN(TEXT, "why"), .show = SHOW_WIDE, .cut = true},
    {COLUMN(TEXT, "next"), .cut = true, .drop = 1},
};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

static const char *severity_name(enum doctor_severity severity) {
    return severity == DOCTOR_FAULT ? "fault" : "warning";
}

/* The table of checks itself, for docs/doctor.md and for those who want to know what is looked at. */
static pawl_status list_checks(struct cli *cli, pawl_error *err) {
    static const struct column listed[] = {{COLUMN(TEXT, "check")},
                                           {COLUMN(TEXT, "severity")},
                                           {COLUMN(TEXT, "stores")},
                                           {COLUMN(TEXT, "why"), .cut = true},
                                           {COLUMN(TEXT, "next"), .cut = true}};
    output_list_begin(&cli->output, listed, sizeof listed / sizeof listed[0]);
    for (size_t i = 0; i < doctor_checks_count; i++) {
        const struct doctor_check *check = &doctor_checks[i];
        struct cell cells[] = {cell_cstr(check->name), cell_cstr(severity_name(check->severity)),
                               cell_cstr(check->stores), cell_cstr(check->why), cell_cstr(check->next)};
        output_list_row(&cli->output, cells);
    }
    return output_list_end(&cli->output, "", err);
}

static pawl_status run_doctor(struct cli *cli, pawl_error *err) {
    const struct doctor_input input = {
        .job_lease_ms = options_number(&cli->arguments.options, OPTION_JOB_LEASE),
    };
    struct doctor_report report;
    pawl_status status = doctor_run(cli->store, &input, cli->arena, &report, err);
    if (status != PAWL_OK)
        return status;
    if (report.count > 0)
        cli->exit_code = report.faults > 0 ? EXIT_FAULTS : EXIT_VIOLATIONS;
    output_list_begin(&cli->output, columns, COLUMNS);
    for (size_t i = 0; i < report.count; i++) {
        const struct doctor_finding *finding = &report.findings[i];
        struct cell cells[COLUMNS] = {cell_cstr(severity_name(finding->check->severity)),
                                      cell_cstr(finding->check->name), cell_text(finding->found),
                                      cell_cstr(finding->check->why), cell_cstr(finding->check->next)};
        output_list_row(&cli->output, cells);
    }
    status = output_list_end(&cli->output, "healthy: no check found anything", err);
    if (status == PAWL_OK)
        output_say(&cli->output, "%zu checks, %zu fault%s, %zu warning%s%s", report.checks, report.faults,
                   report.faults == 1 ? "" : "s", report.warnings, report.warnings == 1 ? "" : "s",
                   report.count > 0 && cli->output.format != OUTPUT_WIDE
                       ? "; -o wide shows the advice in full"
                       : "");
    return status;
}

static const struct command commands[] = {
    {COMMAND("doctor", "Check for problems: settings, server, file, workers, stuck work"),
     .options = OPTION_BIT(OPTION_JOB_LEASE) | OPTION_BIT(OPTION_DURABILITY),
     .details = "Each finding says what was found, why it matters and what to do. Exits with 0 when nothing "
                "was found, with 1 when there are warnings and with 2 when there is a fault; another code "
                "says that the doctor could not look. It changes nothing. pawl doctor checks lists every "
                "check; docs/doctor.md explains them.",
     .example = "pawl doctor\npawl doctor -o json | jq -r '.[].check'", .run = run_doctor},
    {COMMAND("doctor checks", "List the checks of the doctor"), .database = DATABASE_NONE,
     .run = list_checks},
};

const struct command_table doctor_commands = COMMAND_TABLE(commands);
