/* pawl doctor: what endangers the work, why, and what to do. */
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/fault.h"
#include "operations/fleet/fleet.h"
#include "work/doctor/doctor.h"

static pawl_status run_doctor(struct cli *cli, pawl_error *err) {
    const struct doctor_input input = {
        .job_lease_ms = options_number(&cli->arguments.options, OPTION_JOB_LEASE),
    };
    struct doctor_report report;
    TRY(doctor_run(cli->store, &input, cli->arena, &report, err));
    if (report.count > 0)
        cli->exit_code = report.faults > 0 ? EXIT_FAULTS : EXIT_VIOLATIONS;
    output_list_begin(&cli->output, finding_columns, FINDING_COLUMNS);
    for (size_t i = 0; i < report.count; i++) {
        struct cell cells[FINDING_COLUMNS];
        finding_cells(&report.findings[i], cells);
        output_list_row(&cli->output, cells);
    }
    TRY(output_list_end(&cli->output, "healthy: no check found anything", err));
    output_say(&cli->output, "%zu checks, %zu fault%s, %zu warning%s%s", report.checks, report.faults,
               report.faults == 1 ? "" : "s", report.warnings, report.warnings == 1 ? "" : "s",
               report.count > 0 && cli->output.format != OUTPUT_WIDE ? "; -o wide shows the advice in full"
                                                                     : "");
    return PAWL_OK;
}

static const struct operation commands[] = {
    {OPERATION("doctor", "Check for problems: settings, server, file, workers, stuck work"),
     .options = OPTION(JOB_LEASE) | OPTION(DURABILITY),
     .details = "Each finding says what was found, why it matters and what to do. Exits with 0 when nothing "
                "was found, with 1 when there are warnings and with 2 when there is a fault; another code "
                "says that the doctor could not look. It changes nothing. pawl doctor checks lists every "
                "check; docs/doctor.md explains them.",
     .example = "pawl doctor\npawl doctor -o json | jq -r '.[].check'", .terminal = run_doctor},
};

const struct operation_table doctor_commands = OPERATION_TABLE(commands);
