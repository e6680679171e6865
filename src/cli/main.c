/* The program pawl: reads the command line, runs one command, says how it ended. */
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/audit.h"
#include "cli/cli.h"
#include "cli/database.h"
#include "cli/fault.h"
#include "cli/front.h"
#include "cli/help/help.h"

/* Runs the command that was asked for; --help and --version win over it. */
static pawl_status run(struct cli *cli, pawl_error *err) {
    const struct options *options = &cli->arguments.options;
    const struct operation *command = cli->arguments.command;
    if (options_bool(options, OPTION_HELP))
        return help_show(cli, !command_is_help(command) ? command : NULL, err);
    if (options_bool(options, OPTION_VERSION)) {
        fprintf(cli->output.file, "pawl %s\n", PAWL_VERSION);
        return PAWL_OK;
    }
    pawl_status status = front_load(cli, err);
    if (status == PAWL_OK && command->check != NULL) {
        struct request request = front_request(cli);
        status = command->check(&request, err);
        cli->usage = status != PAWL_OK;
    }
    if (status == PAWL_OK && command->database != DATABASE_NONE)
        status = database_open(cli, err);
    if (status == PAWL_OK)
        status = command_terminal(command) != NULL ? command_terminal(command)(cli, err)
                                                   : front_run(cli, command->run, err);
    if (status == PAWL_OK && command->changes == CHANGES_ACTION &&
        !operation_dry(command, cli->arguments.values))
        status = audit_note(cli, err);
    return status;
}

/* The exit code when the answer could not be written: what a writing command did has happened. */
static int unwritten_code(const struct operation *command, pawl_error *err) {
    if (command->changes != CHANGES_NOTHING)
        err->status = PAWL_UNKNOWN;
    return error_exit_code(err->status);
}

static int finish(struct cli *cli, pawl_status status, pawl_error *err) {
    const struct operation *command = cli->arguments.command;
    char path[COMMAND_PATH_BYTES];
    struct fault fault = {.what = command_path(command, path), .err = err, .hint = cli->hint};
    fault.json = cli->output.format == OUTPUT_JSON || cli->output.format == OUTPUT_NDJSON;
    /* Errors are JSON only when JSON was asked for, not when standard output happens to be a pipe. */
    fault.json = fault.json && options_number(&cli->arguments.options, OPTION_OUTPUT) != OUTPUT_AUTO;
    bool broken = false;
    pawl_error unwritten;
    pawl_status written = output_finish(&cli->output, &broken, &unwritten);
    if (status != PAWL_OK) {
        fault.exit_code = cli->usage ? ERROR_EXIT_USAGE : error_exit_code(status);
        fault_print(stderr, &fault);
        return fault.exit_code;
    }
    if (written != PAWL_OK) {
        fault.err = &unwritten;
        fault.exit_code = unwritten_code(command, &unwritten);
        fault_print(stderr, &fault);
        return fault.exit_code;
    }
    return broken ? 0 : cli->exit_code;
}

/* Wrong usage gets its own code; a configuration file that is not there keeps its status. */
static int refuse(struct cli *cli, int argc, char **argv, pawl_status status, const pawl_error *err) {
    const struct operation *command = cli->arguments.command;
    char path[COMMAND_PATH_BYTES];
    struct fault fault = {.what = command != NULL ? command_path(command, path) : NULL,
                          .err = err,
                          .exit_code = status == PAWL_INVALID ? ERROR_EXIT_USAGE : error_exit_code(status),
                          .json = arguments_want_json(argc, argv)};
    fault_print(stderr, &fault);
    return fault.exit_code;
}

/* A setting that was misspelled looks like one that is in force. */
static void warn_of_variables(void) {
    for (char **variable = environ; *variable != NULL; variable++) {
        char name[128];
        const char *meant = NULL;
        size_t len = strcspn(*variable, "=");
        if (len >= sizeof name)
            continue;
        memcpy(name, *variable, len);
        name[len] = '\0';
        if (!options_variable_unknown(name, &meant))
            continue;
        if (meant == NULL)
            fprintf(stderr, "pawl: the variable %s is not a setting of pawl; pawl help options lists them.\n",
                    name);
        else
            fprintf(stderr, "pawl: the variable %s is not known and changes nothing. Did you mean %s?\n",
                    name, meant);
    }
}

int main(int argc, char **argv) {
    struct cli cli = {.exit_code = 0};
    pawl_error err = {.status = PAWL_OK};
    (void)setlocale(LC_CTYPE, ""); /* for the width of characters; without it they count as one */
    (void)signal(SIGPIPE,
                 SIG_IGN); /* a closed pipe is then an error of the write, which output_finish knows */
    cli.arena = arena_create(0);
    cli.page = arena_create(0);
    buf_init(&cli.next, 0);
    if (cli.arena == NULL || cli.page == NULL) {
        fprintf(stderr, "pawl: no memory.\n");
        return error_exit_code(PAWL_NO_MEMORY);
    }
    int code = 0;
    char **words = argv;
    pawl_status status = arguments_hide(cli.arena, argc, argv, &words, &err);
    if (status == PAWL_OK)
        status = arguments_parse(cli.arena, argc, words, &cli.arguments, &err);
    if (status != PAWL_OK) {
        code = refuse(&cli, argc, words, status, &err);
    } else {
        output_init(&cli.output, (enum output_format)options_number(&cli.arguments.options, OPTION_OUTPUT),
                    stdout);
        warn_of_variables();
        status = run(&cli, &err);
        store_close(cli.store);
        tracer_free(cli.tracer);
        code = finish(&cli, status, &err);
        output_free(&cli.output);
    }
    buf_free(&cli.next);
    arena_free(cli.page);
    arena_free(cli.arena);
    return code;
}
