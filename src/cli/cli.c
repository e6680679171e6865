/* Helpers shared by commands: tracing, notes beside the answer, and asking for confirmation. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"

struct putter cli_putter(struct cli *cli, struct arena *arena) {
    struct log log = {.level = LOG_LEVEL_WARN, .file = stderr};
    if (cli->tracer == NULL)
        cli->tracer = tracer_open("pawl", &log);
    return (struct putter){cli->tracer, str_from(getenv("TRACEPARENT")), cli->store, arena,
                           str_from(getenv("TRACESTATE"))};
}

void cli_note(struct cli *cli, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(cli->arena, format, args);
    va_end(args);
    if (text == NULL)
        return;
    if (output_is_json(&cli->output))
        fprintf(stderr, "pawl: %s\n", text);
    else
        output_say(&cli->output, "%s", text);
}

pawl_status cli_confirm(struct cli *cli, const char *question, pawl_error *err) {
    if (cli_value(cli, "yes").present)
        return PAWL_OK;
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
        cli->hint = operation_input(cli->arguments.command,
                                    operation_input_find(cli->arguments.command, "dry_run")) != NULL
                        ? "Add --yes to do it, or --dry-run to look first."
                        : "Add --yes to do it.";
        return error_set(err, PAWL_CONFLICT, "confirm",
                         "%s: there is no terminal to ask on, so nothing was done", question);
    }
    char answer[16] = "";
    fprintf(stderr, "%s? [y/N] ", question);
    fflush(stderr);
    if (fgets(answer, sizeof answer, stdin) != NULL &&
        (strcmp(answer, "y\n") == 0 || strcmp(answer, "yes\n") == 0))
        return PAWL_OK;
    return error_set(err, PAWL_CONFLICT, "confirm", "the answer was not yes, so nothing was done");
}
