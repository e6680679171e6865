/* pawl help: the overview, one command, or a topic. */
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/help/completion.h"
#include "cli/help/help.h"
#include "cli/help/man.h"

static pawl_status show_buf(struct cli *cli, void (*append)(struct buf *), pawl_error *err) {
    AUTO_BUF(buf, 0);
    append(&buf);
    return help_print(cli, &buf, err);
}

static void append_options(struct buf *buf) { options_help(buf, option_rows, OPTION_COUNT); }

static pawl_status show_completion(struct cli *cli, const char *shell, pawl_error *err) {
    const char *script = shell != NULL ? completion_script(shell) : NULL;
    if (script != NULL) {
        fputs(script, cli->output.file);
        return PAWL_OK;
    }
    cli->usage = true;
    if (shell == NULL)
        return error_set(err, PAWL_INVALID, "help", "pawl help completion needs a shell: bash, zsh or fish");
    return error_set(err, PAWL_INVALID, "help",
                     "there is no completion for the shell \"%s\". There is one for bash, zsh and fish",
                     shell);
}

static pawl_status complete(struct cli *cli, pawl_error *err) {
    AUTO_BUF(buf, 0);
    completion_answer(&buf, cli->arguments.words + 1, cli->arguments.word_count - 1);
    return help_print(cli, &buf, err);
}

static pawl_status run(struct cli *cli, pawl_error *err) {
    const char **words = cli->arguments.words;
    int count = cli->arguments.word_count;
    if (count == 0)
        return help_show(cli, NULL, err);
    if (count == 1 && strcmp(words[0], "exit-codes") == 0)
        return help_exit_codes(cli, err);
    if (count == 1 && strcmp(words[0], "options") == 0)
        return show_buf(cli, append_options, err);
    if (count == 1 && strcmp(words[0], "markdown") == 0)
        return show_buf(cli, help_markdown, err);
    if (count == 1 && strcmp(words[0], "man") == 0)
        return show_buf(cli, man_page, err);
    if (strcmp(words[0], "completion") == 0)
        return show_completion(cli, count > 1 ? words[1] : NULL, err);
    if (strcmp(words[0], "complete") == 0) /* for the scripts */
        return complete(cli, err);
    cli->usage = true; /* only the words can be wrong here */
    const struct operation *command = NULL;
    int used = 0;
    if (count == 1 && command_is_group(words[0]))
        return help_noun(cli, words[0], err);
    TRY(command_find(words, count, &command, &used, err));
    if (used < count)
        return error_set(err, PAWL_INVALID, "help", "there is no command \"%s %s\". pawl help %s lists them",
                         words[0], words[1], words[0]);
    return help_show(cli, command, err);
}

static const struct field fields[] = {
    {FIELD(FIELD_TEXTS, IN_TERMINAL, "words",
           "A noun, a command, or options, exit-codes, man, completion SHELL, "
           "markdown."),
     .word = true, .max = 3}};

static const struct operation commands[] = {
    {OPERATION("help", "Show the commands, one of them, or a topic"), FIELDS(fields),
     .details = "pawl help options lists every option with its environment variable and default. pawl help "
                "markdown prints the reference of docs/cli.md, pawl help man the manual page in roff, and "
                "pawl help completion bash, zsh or fish what makes that shell complete pawl's words; make "
                "install puts these where man and the shells look for them.",
     .example = "pawl help message retry\npawl help exit-codes\nsource <(pawl help completion bash)",
     .database = DATABASE_NONE, .terminal = run},
};

const struct operation_table help_commands = OPERATION_TABLE(commands);
