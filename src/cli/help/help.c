/* Help made from the tables of commands, flags and options. */
#include "cli/help/help.h"

#include <string.h>

#include "base/error.h"
#include "cli/exit_codes.h"

enum { HELP_WIDTH = 80 };

/* Appends text broken at blanks, every line indented; an empty line stays an empty line. */
static void wrap(struct buf *buf, const char *text, int indent) {
    while (*text != '\0') {
        size_t room = (size_t)(HELP_WIDTH - indent);
        size_t len = strcspn(text, "\n");
        size_t used = len;
        if (len > room) {
            used = room;
            while (used > 0 && text[used] != ' ')
                used--;
            if (used == 0)
                used = len; /* one long word */
        }
        if (used > 0)
            buf_printf(buf, "%*s%.*s", indent, "", (int)used, text);
        buf_append_char(buf, '\n');
        text += used;
        if (*text == '\n' || *text == ' ')
            text++;
    }
}

static bool has_flags(const struct operation *command) {
    const struct field *input;
    for (size_t i = 0; (input = command_input(command, i)) != NULL; i++)
        if (!input_is_word(input))
            return true;
    return command->options != 0;
}

void help_usage(struct buf *buf, const struct operation *command) {
    char path[COMMAND_PATH_BYTES];
    buf_printf(buf, "pawl %s", command_path(command, path));
    command_words(buf, command);
    if (has_flags(command))
        buf_append_cstr(buf, " [OPTION]...");
}

static const char *option_value_name(const struct option_row *row) {
    switch (row->type) {
    case OPTION_STRING:
        return " TEXT";
    case OPTION_INT:
        return " N";
    case OPTION_DURATION:
        return " DURATION";
    case OPTION_SIZE:
        return " SIZE";
    case OPTION_CHOICE:
        return " CHOICE";
    case OPTION_BOOL:
        break;
    }
    return "";
}

static void option_name(struct buf *buf, const struct option_row *row) {
    char flag[OPTION_FLAG_BYTES];
    if (row->letter != 0)
        buf_printf(buf, "-%c, ", row->letter);
    buf_printf(buf, "%s%s", options_flag(row, flag), option_value_name(row));
}

/* The option's text with its other sources and its default. */
static void option_text(struct buf *buf, const struct option_row *row) {
    buf_append_cstr(buf, row->help);
    if (row->choices != NULL)
        buf_printf(buf, " One of %s.", row->choices);
    if (row->environment != NULL)
        buf_printf(buf, " Environment: %s.", row->environment);
    if (row->fallback != NULL && row->type != OPTION_BOOL)
        buf_printf(buf, " Default: %s.", row->fallback);
}

void help_entries(struct buf *buf, const struct operation *command, uint64_t options, help_entry *entry) {
    char label[INPUT_NAME_BYTES], value[INPUT_NAME_BYTES];
    const struct field *input;
    AUTO_BUF(name, 0);
    AUTO_BUF(text, 0);
    for (size_t i = 0; command != NULL && (input = command_input(command, i)) != NULL; i++) {
        bool bare = input_is_word(input) || *input_value(input, value) == '\0';
        buf_reset(&name);
        buf_reset(&text);
        buf_printf(&name, "%s%s%s", input_label(input, label), bare ? "" : " ", bare ? "" : value);
        buf_append_cstr(&text, input->help);
        if (input->choices != NULL)
            buf_printf(&text, " One of %s.", input->choices);
        entry(buf, name.ptr, text.ptr);
    }
    for (int id = 0; id < OPTION_COUNT; id++) {
        if ((options & OPTION_BIT(id)) == 0)
            continue;
        buf_reset(&name);
        buf_reset(&text);
        option_name(&name, &option_rows[id]);
        option_text(&text, &option_rows[id]);
        entry(buf, name.ptr, text.ptr);
    }
}

static void entry_plain(struct buf *buf, const char *name, const char *text) {
    buf_printf(buf, "  %s\n", name);
    wrap(buf, text, 6);
}

static void entry_markdown(struct buf *buf, const char *name, const char *text) {
    buf_printf(buf, "- `%s`: %s\n", name, text);
}

static void append_command(struct buf *buf, const struct operation *command) {
    buf_append_cstr(buf, "Usage: ");
    help_usage(buf, command);
    buf_printf(buf, "\n\n%s.\n", command->summary);
    if (command->details != NULL) {
        buf_append_char(buf, '\n');
        wrap(buf, command->details, 0);
    }
    if (command_input(command, 0) != NULL || command->options != 0)
        buf_append_cstr(buf, "\nOptions:\n");
    help_entries(buf, command, command->options, entry_plain);
    buf_append_cstr(buf, "\nOptions of every command:\n");
    help_entries(buf, NULL, OPTION_BITS_COMMON, entry_plain);
    if (command->example != NULL) {
        buf_append_cstr(buf, "\nExamples:\n");
        wrap(buf, command->example, 2);
    }
}

/* The nouns by what people want; a test checks that each command is in one of them. */
const struct help_group help_groups[] = {
    {"start", "up worker server mcp"},
    {"send work", "send event snapshot job task schedule run statement pipeline"},
    {"look", "status series why find monitor message perspective audit action"},
    {"act", "pause resume limit alert cleanup rebalance"},
    {"run a fleet", "workers queue instance partition stream duty receptor agent tool"},
    {"set up", "migrate setting transport check doctor maintain version help"},
    {NULL, NULL},
};

static void append_overview(struct buf *buf) {
    buf_append_cstr(buf, "pawl coordinates durable work on SQLite and PostgreSQL.\n\n"
                         "Usage: pawl NOUN VERB [WORD]... [OPTION]...\n\n");
    for (const struct help_group *group = help_groups; group->title != NULL; group++) {
        buf_printf(buf, "  %-11s ", group->title);
        for (const char *word = group->words; *word != '\0';) {
            char noun[COMMAND_PATH_BYTES];
            size_t len = strcspn(word, " ");
            snprintf(noun, sizeof noun, "%.*s", (int)len, word);
            if (command_exists(noun))
                buf_printf(buf, " %s", noun);
            word += len + strspn(word + len, " ");
        }
        buf_append_char(buf, '\n');
    }
    buf_append_char(buf, '\n');
    wrap(
        buf,
        "pawl help NOUN shows its verbs, pawl help NOUN VERB all about one; the same verbs everywhere: list, "
        "show, create or set, delete, pause, resume, cancel, retry, wait, tail. Try:\n"
        "\n"
        "  pawl send order.created '{\"id\": 1}' --stream order-1\n"
        "  pawl message list\n"
        "\n"
        "The database is --database-url or DATABASE_URL, otherwise the file pawl.db here. Output is a table "
        "on "
        "a terminal and JSON elsewhere; -o decides. More: pawl help options, exit-codes, man.",
        0);
}

/* A line for each verb of a noun. */
static void append_noun(struct buf *buf, const char *noun) {
    const struct operation *command;
    AUTO_BUF(line, 0);
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        char path[COMMAND_PATH_BYTES];
        if (!command_in_group(command, noun))
            continue;
        buf_reset(&line);
        buf_printf(&line, "pawl %s", command_path(command, path));
        command_words(&line, command);
        buf_printf(buf, "  %s\n", line.ptr);
        buf_reset(&line);
        buf_printf(&line, "%s.", command->summary);
        wrap(buf, line.ptr, 6);
    }
    buf_printf(buf, "\npawl help %s VERB shows the options of one, with examples.\n", noun);
}

/* Help is for people: it is text also where answers are JSON. */
pawl_status help_print(struct cli *cli, const struct buf *buf, pawl_error *err) {
    TRY(buf_status(buf, "help", err));
    fwrite(buf->ptr, 1, buf->len, cli->output.file);
    return PAWL_OK;
}

pawl_status help_noun(struct cli *cli, const char *noun, pawl_error *err) {
    AUTO_BUF(buf, 0);
    append_noun(&buf, noun);
    return help_print(cli, &buf, err);
}

pawl_status help_show(struct cli *cli, const struct operation *command, pawl_error *err) {
    AUTO_BUF(buf, 0);
    if (command != NULL)
        append_command(&buf, command);
    else
        append_overview(&buf);
    return help_print(cli, &buf, err);
}

pawl_status help_exit_codes(struct cli *cli, pawl_error *err) {
    static const struct column columns[] = {
        {COLUMN(INT, "exit_code")}, {COLUMN(TEXT, "status")}, {COLUMN(TEXT, "meaning"), .cut = true}};
    output_list_begin(&cli->output, columns, 3);
    for (size_t i = 0; i < exit_codes_count; i++) {
        struct cell cells[] = {cell_int(exit_codes[i].code), cell_cstr(exit_codes[i].name),
                               cell_cstr(exit_codes[i].meaning)};
        output_list_row(&cli->output, cells);
    }
    return output_list_end(&cli->output, "", err);
}

static void markdown_command(struct buf *buf, const struct operation *command) {
    char path[COMMAND_PATH_BYTES];
    buf_printf(buf, "### pawl %s\n\n`", command_path(command, path));
    help_usage(buf, command);
    buf_printf(buf, "`\n\n%s.", command->summary);
    if (command->details != NULL)
        buf_printf(buf, "\n\n%s", command->details);
    buf_append_cstr(buf, command_input(command, 0) != NULL || command->options != 0 ? "\n\n" : "\n");
    help_entries(buf, command, command->options, entry_markdown);
    if (command->example != NULL)
        buf_printf(buf, "\n```sh\n%s\n```\n", command->example);
    buf_append_char(buf, '\n');
}

void help_markdown(struct buf *buf) {
    buf_append_cstr(buf, "## Exit codes\n\n| code | status | meaning |\n|--:|---|---|\n");
    for (size_t i = 0; i < exit_codes_count; i++)
        buf_printf(buf, "| %d | %s | %s |\n", exit_codes[i].code, exit_codes[i].name, exit_codes[i].meaning);
    buf_append_cstr(buf, "\n## Options of every command\n\n");
    help_entries(buf, NULL, OPTION_BITS_COMMON, entry_markdown);
    buf_append_cstr(buf, "\n## Commands\n\n");
    for (size_t i = 0; command_at(i) != NULL; i++)
        markdown_command(buf, command_at(i));
}
