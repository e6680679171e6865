/* The command line as a front of operations: words and flags are inputs, answers are tables or JSON. */
#include "cli/front.h"

#include <ctype.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "cli/audit.h"
#include "cli/input.h"
#include "cli/jobs/tool_registry.h"

/* Whether a word of the help, such as NAME@VERSION, [RUN] or STREAM..., denotes the input: it begins with its
 * name, and one that may be repeated denotes the plural. */
static bool word_is(const char *word, size_t len, const char *name) {
    size_t at = 0;
    while (at < len && *word == '[')
        word++, len--;
    while (at < len && (isalpha((unsigned char)word[at]) || word[at] == '_') &&
           tolower((unsigned char)word[at]) == name[at])
        at++;
    if (at < len && (isalpha((unsigned char)word[at]) || word[at] == '_'))
        return false;
    return name[at] == '\0' || (strcmp(name + at, "s") == 0 && memchr(word, '.', len) != NULL);
}

/* The rest of the words as an array of texts. */
static const struct tree *words_from(struct cli *cli, int first) {
    size_t count = (size_t)(cli->arguments.word_count - first);
    struct tree *tree = arena_alloc(cli->arena, sizeof *tree);
    if (tree == NULL || (tree->items = arena_array(cli->arena, count, sizeof *tree->items)) == NULL)
        return NULL;
    tree->kind = TREE_ARRAY;
    for (; tree->count < count; tree->count++) {
        pawl_str word = str_from(cli->arguments.words[first + (int)tree->count]);
        if ((tree->items[tree->count] = tree_scalar(cli->arena, TREE_STRING, word)) == NULL)
            return NULL;
    }
    return tree;
}

static bool find_word(struct cli *cli, const char *name, struct value *value) {
    const char *at = cli->arguments.command->arguments;
    for (int i = 0; at != NULL && *at != '\0'; i++) {
        size_t len = strcspn(at, " ");
        bool many = memchr(at, '.', len) != NULL;
        if (word_is(at, len, name) && i < cli->arguments.word_count) {
            *value = (struct value){.present = true, .text = str_from(cli->arguments.words[i])};
            if (!str_to_i64(value->text, INT64_MIN, INT64_MAX, &value->number))
                value->number = 0;
            if (!uuid_parse(value->text, &value->uuid))
                value->uuid = uuid_nil();
            if (many)
                value->tree = words_from(cli, i);
            return true;
        }
        at += len + strspn(at + len, " ");
    }
    return false;
}

/* --at-version is the input at_version, and --timeout 5s is timeout_ms. */
static bool flag_is(const struct flag_row *row, const char *name) {
    if (row->input != NULL)
        return strcmp(row->input, name) == 0;
    size_t len = strlen(row->name);
    for (size_t i = 0; i < len; i++)
        if (name[i] != (row->name[i] == '-' ? '_' : row->name[i]))
            return false;
    return strcmp(name + len, row->type == FLAG_DURATION ? "_ms" : "") == 0;
}

static struct value front_value(void *self, const char *name) {
    struct cli *cli = self;
    struct value value = {.present = false};
    if (find_word(cli, name, &value))
        return value;
    for (int id = 0; id < FLAG_TOTAL; id++) {
        const struct flag_value *flag = cli_flag(cli, (enum flag_id)id);
        if (flag->set && flag_is(&flag_rows[id], name))
            return (struct value){true, flag->text, flag->number, flag->uuid, NULL};
    }
    return value;
}

static int front_limit(void *self) {
    struct cli *cli = self;
    return (cli->arguments.command->flags & FLAG(LIMIT)) != 0 ? cli_limit(cli) : PAWL_LIST_MAX;
}

static pawl_str front_after(void *self) {
    struct cli *cli = self;
    return !str_absent(cli->next) ? cli->next : cli_flag(cli, FLAG_AFTER)->text;
}

static void front_list(void *self, const struct column *columns, size_t count) {
    struct cli *cli = self;
    if (!cli->output.list_open)
        output_list_begin(&cli->output, columns, count);
}

static void front_row(void *self, const struct cell *cells) {
    output_list_row(&((struct cli *)self)->output, cells);
}

/* A command without --limit shows every page. */
static pawl_status front_list_end(void *self, const char *next, pawl_error *err) {
    struct cli *cli = self;
    const struct operation *command = cli->arguments.command;
    cli->next = str_from((command->flags & FLAG(LIMIT)) != 0 ? NULL : next);
    if (!str_absent(cli->next))
        return PAWL_OK;
    pawl_status status = output_list_end(&cli->output, command->empty != NULL ? command->empty : "", err);
    if (status == PAWL_OK && cli->below != NULL)
        cli_note(cli, "%s", cli->below);
    return status;
}

static pawl_status front_record(void *self, const struct column *columns, size_t count,
                                const struct cell *cells, pawl_error *err) {
    return output_record(&((struct cli *)self)->output, columns, count, cells, err);
}

static void front_say(void *self, const char *sentence) {
    output_say(&((struct cli *)self)->output, "%s", sentence);
}

static void front_below(void *self, const char *sentence) { ((struct cli *)self)->below = sentence; }

static void front_list_said(void *self, bool more) {
    struct cli *cli = self;
    const struct flag_value *limit = cli_flag(cli, FLAG_LIMIT);
    cli->list_said = true;
    /* A program that passed the limit itself is not told. */
    if (more && !(output_is_json(&cli->output) && limit->set))
        cli->below = arena_printf(
            cli->arena, "the first %zu; there are more: --limit N shows more of them, --after the next ones",
            cli->output.row_count);
}

static void front_now(void *self, int64_t now_ms) { ((struct cli *)self)->output.now_ms = now_ms; }

static void front_hint(void *self, const char *command) { ((struct cli *)self)->hint = command; }

static void front_exit_with(void *self, int code) { ((struct cli *)self)->exit_code = code; }

static bool front_json(void *self) { return output_is_json(&((struct cli *)self)->output); }

static const char *front_asked(void *self) {
    struct cli *cli = self;
    struct buf text;
    buf_init(&text, PAWL_METADATA_BYTES_MAX);
    for (int id = 0; id < FLAG_TOTAL; id++) {
        const struct flag_value *flag = cli_flag(cli, (enum flag_id)id);
        if (flag->set)
            buf_printf(&text, " --%s%s%.*s", flag_rows[id].name, flag->text.len > 0 ? " " : "",
                       STR_ARG(flag->text));
    }
    for (int i = 0; i < cli->arguments.word_count && text.len < PAWL_METADATA_BYTES_MAX - 64; i++)
        buf_printf(&text, " %s", cli->arguments.words[i]);
    const char *copy = text.failed || text.len == 0 ? "" : arena_strdup(cli->arena, text.ptr);
    buf_free(&text);
    return copy != NULL ? copy : "";
}

static bool front_sees_content(void *self) {
    (void)self;
    return true;
}

static struct putter front_putter(void *self) { return cli_putter(self, ((struct cli *)self)->arena); }

static bool front_tools_named(void *self) {
    return options_text(&((struct cli *)self)->arguments.options, OPTION_TOOLS).len > 0;
}

static pawl_status front_tools(void *self, struct tools **tools, pawl_error *err) {
    return tool_registry_open(self, tools, err);
}

static pawl_status front_file(void *self, const char *path, size_t bytes_max, pawl_str *text,
                              pawl_error *err) {
    return input_read(((struct cli *)self)->arena, path, bytes_max, text, err);
}

static pawl_str front_actor(void *self) { return audit_actor(self); }

static pawl_status front_note(void *self, const char *action, const char *detail, pawl_error *err) {
    return audit_note_reason(self, action, detail, err);
}

static pawl_status front_confirm(void *self, const char *question, pawl_error *err) {
    return cli_confirm(self, question, err);
}

static pawl_status front_key(void *self, unsigned part, pawl_uuid *key, pawl_error *err) {
    (void)part, (void)err;
    *key = cli_flag(self, FLAG_REQUEST)->uuid;
    return PAWL_OK;
}

static const struct front front = {.dashes = "--",
                                   .value = front_value,
                                   .limit = front_limit,
                                   .after = front_after,
                                   .list = front_list,
                                   .row = front_row,
                                   .list_end = front_list_end,
                                   .record = front_record,
                                   .list_said = front_list_said,
                                   .say = front_say,
                                   .below = front_below,
                                   .now = front_now,
                                   .hint = front_hint,
                                   .exit_with = front_exit_with,
                                   .json = front_json,
                                   .asked = front_asked,
                                   .sees_content = front_sees_content,
                                   .putter = front_putter,
                                   .tools_named = front_tools_named,
                                   .tools = front_tools,
                                   .file = front_file,
                                   .actor = front_actor,
                                   .note = front_note,
                                   .confirm = front_confirm,
                                   .key = front_key};

struct request front_request(struct cli *cli) {
    return (struct request){cli->store, cli->arena, &front, cli};
}

pawl_status front_run(struct cli *cli, operation_run *run, pawl_error *err) {
    struct request request = front_request(cli);
    pawl_status status = PAWL_OK;
    do
        status = run(&request, err);
    while (status == PAWL_OK && !str_absent(cli->next));
    return status;
}
