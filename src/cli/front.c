/* The command line as a front of operations: words and flags are inputs, answers are tables or JSON. */
#include "cli/front.h"

#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "base/thread.h"
#include "base/time/clock.h"
#include "cli/audit.h"
#include "cli/input.h"
#include "cli/jobs/tool_registry.h"

/* ---- Inputs */

/* Options of the program that the command takes are inputs as well. */
static struct value option_value(const struct cli *cli, const char *name) {
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option_value *option = &cli->arguments.options.values[id];
        if ((cli->arguments.command->options & OPTION_BIT(id)) != 0 && option->set &&
            strcmp(option_rows[id].name, name) == 0)
            return (struct value){.present = true, .text = option->text, .number = option->number};
    }
    return (struct value){.present = false};
}

struct value cli_value(const struct cli *cli, const char *name) {
    size_t index = operation_input_find(cli->arguments.command, name);
    if (index == operation_inputs(cli->arguments.command))
        return option_value(cli, name);
    struct value value = cli->arguments.values[index];
    if (value.relative) {
        value.number += cli->output.now_ms;
        value.relative = false;
    }
    return value;
}

static struct value front_value(void *self, const char *name) { return cli_value(self, name); }

static bool ends_with(const char *path, const char *end) {
    size_t len = strlen(path), end_len = strlen(end);
    return len >= end_len && strcmp(path + len - end_len, end) == 0;
}

/* A document in a file. */
static pawl_status load_document(struct cli *cli, const struct field *field, const char *path,
                                 struct value *value, pawl_error *err) {
    const struct tree *tree = NULL;
    pawl_str text;
    pawl_error why = {0};
    pawl_status status = input_read(cli->arena, path, PAWL_PAYLOAD_BYTES_MAX, &text, err);
    if (status != PAWL_OK)
        return status;
    status = ends_with(path, ".yaml") || ends_with(path, ".yml")
                 ? tree_parse_yaml(cli->arena, text, NULL, &tree, &why)
                 : tree_parse(cli->arena, text, NULL, &tree, &why);
    if (status == PAWL_OK)
        status = field_from_tree(field, tree, value, &why);
    return status == PAWL_OK ? PAWL_OK : error_set(err, status, "input", "%s: %s", path, why.text);
}

/* JSON that was written out, or as @FILE, or as - for standard input. */
static pawl_status load_json(struct cli *cli, const struct field *field, struct value *value,
                             pawl_error *err) {
    const struct tree *tree = NULL;
    pawl_str text = value->text;
    bool limited = (cli->arguments.command->options & OPTION(PAYLOAD_LIMIT)) != 0;
    size_t bytes_max = limited ? (size_t)options_number(&cli->arguments.options, OPTION_PAYLOAD_LIMIT)
                               : PAWL_PAYLOAD_BYTES_MAX;
    if (text.ptr[0] == '@' || str_equal_cstr(text, "-"))
        TRY(input_read(cli->arena, text.ptr + (text.ptr[0] == '@'), bytes_max, &text, err));
    if (field->type != FIELD_JSON) {
        TRY(tree_parse(cli->arena, text, NULL, &tree, err));
        TRY(field_from_tree(field, tree, value, err));
    }
    value->text = text; /* as it was written, not as it would be written again */
    return PAWL_OK;
}

pawl_status front_load(struct cli *cli, pawl_error *err) {
    const struct field *field;
    for (size_t i = 0; (field = command_input(cli->arguments.command, i)) != NULL; i++) {
        struct value *value = &cli->arguments.values[i];
        bool json = field->type == FIELD_JSON || field->type == FIELD_OBJECT || field->type == FIELD_OBJECTS;
        if (!value->present)
            continue;
        if (json && field->file)
            TRY(load_document(cli, field, value->text.ptr, value, err));
        else if (json)
            TRY(load_json(cli, field, value, err));
        else if (field->file && field->in != IN_TERMINAL)
            TRY(input_read(cli->arena, value->text.ptr, (size_t)field->max, &value->text, err));
    }
    return PAWL_OK;
}

/* ---- Lists: every page, unless --limit says otherwise */

/* How many rows are still wanted. */
static int64_t rows_left(const struct cli *cli) {
    struct value limit = cli_value(cli, "limit");
    return limit.present ? limit.number - (int64_t)cli->output.row_count : INT64_MAX;
}

static int front_limit(void *self) {
    struct cli *cli = self;
    int64_t page = cli->arguments.command->paged >= PAGED ? PAWL_HTTP_LIST_MAX : PAWL_LIST_MAX;
    int64_t left = cli->arguments.command->paged != PAGED_NOT ? rows_left(cli) : page;
    return cli->probing ? 1 : (int)(left < page ? left : page);
}

static pawl_str front_after(void *self) {
    struct cli *cli = self;
    return cli->more ? buf_str(&cli->next) : cli_value(cli, "cursor").text;
}

/* Whether the rows were chosen by this column, so that all have the same in it. */
static bool filtered_by(const struct cli *cli, const char *key) {
    const struct field *field =
        operation_input(cli->arguments.command, operation_input_find(cli->arguments.command, key));
    return field != NULL && field->type == FIELD_CHOICE && cli_value(cli, key).present;
}

static void front_list(void *self, const struct column *columns, size_t count) {
    struct cli *cli = self;
    struct column *shown = NULL;
    if (cli->output.list_open || cli->probing)
        return;
    if (!output_is_json(&cli->output))
        shown = arena_array(cli->arena, count, sizeof *shown);
    for (size_t i = 0; shown != NULL && i < count; i++) {
        shown[i] = columns[i];
        if (filtered_by(cli, columns[i].key))
            shown[i].show = SHOW_WIDE;
    }
    output_list_begin(&cli->output, shown != NULL ? shown : columns, count);
}

static void front_row(void *self, const struct cell *cells) {
    struct cli *cli = self;
    if (cli->probing)
        cli->found = true;
    else
        output_list_row(&cli->output, cells);
}

/* After a list that --limit cut, a person is told whether there are more: one more row is asked for. */
static pawl_status end_probe(struct cli *cli, const char *next, pawl_error *err) {
    cli->more = !cli->found && next != NULL;
    if (cli->found)
        output_say(&cli->output, "there are more: --after %s shows the next ones", cli->cut_at);
    if (!cli->more)
        return PAWL_OK;
    buf_reset(&cli->next);
    buf_append_cstr(&cli->next, next);
    return buf_status(&cli->next, "list", err);
}

static pawl_status front_list_end(void *self, const char *next, pawl_error *err) {
    struct cli *cli = self;
    const struct operation *command = cli->arguments.command;
    if (cli->probing)
        return end_probe(cli, next, err);
    buf_reset(&cli->next);
    buf_append_cstr(&cli->next, next != NULL ? next : "");
    cli->more = next != NULL && command->paged >= PAGED;
    if (command->paged == PAGED_TAIL) {
        fflush(cli->output.file);
        cli->wait_until_ms = 0; /* it waits anew after every event */
    }
    pawl_status status = buf_status(&cli->next, "list", err);
    if ((cli->more && rows_left(cli) > 0) || status != PAWL_OK)
        return status;
    status = output_list_end(&cli->output, command->empty != NULL ? command->empty : "", err);
    if (status == PAWL_OK && cli->below != NULL)
        cli_note(cli, "%s", cli->below);
    cli->probing = cli->more && !output_is_json(&cli->output);
    cli->more = cli->probing;
    cli->cut_at = cli->more ? arena_strdup(cli->arena, next) : NULL;
    return status;
}

static pawl_status front_record(void *self, const struct column *columns, size_t count,
                                const struct cell *cells, pawl_error *err) {
    struct cli *cli = self;
    TRY(output_record(&cli->output, columns, count, cells, err));
    if (cli->below != NULL)
        cli_note(cli, "%s", cli->below);
    return PAWL_OK;
}

static void front_say(void *self, const char *sentence) {
    output_say(&((struct cli *)self)->output, "%s", sentence);
}

static void front_below(void *self, const char *sentence) { ((struct cli *)self)->below = sentence; }

static void front_now(void *self, int64_t now_ms) { ((struct cli *)self)->output.now_ms = now_ms; }

static void front_hint(void *self, const char *command) { ((struct cli *)self)->hint = command; }

static void front_exit_with(void *self, int code) { ((struct cli *)self)->exit_code = code; }

static bool front_json(void *self) { return output_is_json(&((struct cli *)self)->output); }

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

static pawl_str front_env(void *self) {
    return options_text(&((struct cli *)self)->arguments.options, OPTION_PIPELINE_ENV);
}

static pawl_str front_actor(void *self) { return audit_actor(self); }

static pawl_status front_confirm(void *self, const char *question, pawl_error *err) {
    return cli_confirm(self, question, err);
}

static pawl_status front_key(void *self, unsigned part, pawl_uuid *key, pawl_error *err) {
    (void)part, (void)err;
    *key = cli_value(self, "request").uuid;
    return PAWL_OK;
}

enum { LOOK_MS_MIN = 5, LOOK_MS_MAX = 200 };

/* It looks again until the time is up, each time after a quarter of the time waited. */
static bool front_wait(void *self, const struct waiting *waiting) {
    struct cli *cli = self;
    int64_t now_ms = clock_boot_ms();
    if (cli->wait_until_ms == 0)
        cli->wait_until_ms = now_ms + waiting->timeout_ms;
    int64_t left_ms = cli->wait_until_ms - now_ms, nap_ms = (waiting->timeout_ms - left_ms) / 4;
    nap_ms = nap_ms < LOOK_MS_MIN ? LOOK_MS_MIN : nap_ms > LOOK_MS_MAX ? LOOK_MS_MAX : nap_ms;
    nap_ms = nap_ms < left_ms ? nap_ms : left_ms;
    cli->again = left_ms > 0;
    if (cli->again)
        nanosleep(&(struct timespec){0, nap_ms * 1000000}, NULL);
    return cli->again;
}

static const struct front front = {.dashes = "--",
                                   .value = front_value,
                                   .limit = front_limit,
                                   .after = front_after,
                                   .list = front_list,
                                   .row = front_row,
                                   .list_end = front_list_end,
                                   .record = front_record,
                                   .say = front_say,
                                   .below = front_below,
                                   .now = front_now,
                                   .hint = front_hint,
                                   .exit_with = front_exit_with,
                                   .json = front_json,
                                   .sees_content = front_sees_content,
                                   .putter = front_putter,
                                   .tools_named = front_tools_named,
                                   .tools = front_tools,
                                   .env = front_env,
                                   .actor = front_actor,
                                   .confirm = front_confirm,
                                   .key = front_key,
                                   .wait = front_wait};

struct request front_request(struct cli *cli) {
    return (struct request){cli->store, cli->arena, &front, cli};
}

/* Each page has the memory of the last: a list may be longer than what fits. */
pawl_status front_run(struct cli *cli, operation_run *run, pawl_error *err) {
    struct request request = front_request(cli);
    request.arena = cli->page;
    if (cli->arguments.command->paged == PAGED_TAIL) {
        cli->output.format = OUTPUT_NDJSON;
        thread_interrupt_ends();
    }
    do {
        arena_reset(cli->page);
        cli->again = false;
        TRY(run(&request, err));
    } while ((cli->again || cli->more) && ferror(cli->output.file) == 0);
    return PAWL_OK;
}
