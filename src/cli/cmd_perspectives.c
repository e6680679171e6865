/* pawl perspectives: register read models and see how they do. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/names.h"
#include "work/perspective_file.h"

static const char *perspective_state_name(enum perspective_state state) {
    static const char *const names[] = {"?", "live", "filling", "retired", "removed"};
    return names[state];
}

static const char *run_name(enum perspective_run run) {
    static const char *const names[] = {"?", "sql", "function", "exec", "http"};
    return names[run];
}

static const struct column columns[] = {
    {.key = "perspective", .type = CELL_TEXT},
    {.key = "state", .type = CELL_TEXT},
    {.key = "paused", .type = CELL_BOOL},
    {.key = "run", .type = CELL_TEXT, .drop = 4},
    {.key = "pending", .type = CELL_INT},
    {.key = "processing", .type = CELL_INT},
    {.key = "completed", .type = CELL_INT},
    {.key = "failed", .type = CELL_INT},
    {.key = "stopped", .type = CELL_INT, .drop = 3},
    {.key = "lag_events", .type = CELL_INT},
    {.key = "lag", .type = CELL_DURATION},
    {.key = "eta", .type = CELL_DURATION, .drop = 1},
    {.key = "patterns", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "target", .type = CELL_TEXT, .show = SHOW_JSON},
    {.key = "batch", .type = CELL_INT, .show = SHOW_JSON},
    {.key = "max_attempts", .type = CELL_INT, .show = SHOW_JSON},
    {.key = "policy", .type = CELL_TEXT, .show = SHOW_JSON},
    {.key = "backfilled", .type = CELL_BOOL, .show = SHOW_JSON},
    {.key = "matched", .type = CELL_INT, .show = SHOW_JSON},
    {.key = "applied", .type = CELL_INT, .show = SHOW_JSON},
    {.key = "registered", .type = CELL_TIME, .show = SHOW_WIDE},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static pawl_str patterns_text(struct arena *arena, const struct perspective_row *row) {
    static const char *const modes[] = {"", "exact:", "suffix:", "", "regex:"};
    char *text = arena_printf(arena, "%s", "");
    for (size_t i = 0; text != NULL && i < row->pattern_count; i++)
        text = arena_printf(arena, "%s%s%s%.*s", text, i > 0 ? " " : "", modes[row->patterns[i].mode],
                            STR_ARG(row->patterns[i].text));
    return str_from(text);
}

/* eta_ms < 0: not known. */
static void row_cells(struct cli *cli, const struct perspective_row *row, int64_t eta_ms,
                      struct cell cells[static COLUMNS]) {
    size_t n = 0;
    cells[n++] = cell_text(row->key);
    cells[n++] = cell_cstr(perspective_state_name(row->state));
    cells[n++] = cell_bool(row->paused);
    cells[n++] = cell_cstr(run_name(row->run));
    cells[n++] = cell_int(row->pending);
    cells[n++] = cell_int(row->processing);
    cells[n++] = cell_int(row->completed);
    cells[n++] = cell_int(row->failed);
    cells[n++] = cell_int(row->stopped);
    cells[n++] = cell_int(row->lag_events);
    cells[n++] = cell_duration(row->lag_ms);
    cells[n++] = eta_ms >= 0 ? cell_duration(eta_ms) : cell_none();
    cells[n++] = cell_text(patterns_text(cli->arena, row));
    cells[n++] = cell_text(row->target);
    cells[n++] = cell_int(row->batch);
    cells[n++] = cell_int(row->max_attempts);
    cells[n++] = cell_cstr(policy_name((int)row->policy));
    cells[n++] = cell_bool(row->backfilled);
    cells[n++] = cell_int(row->matched);
    cells[n++] = cell_int(row->applied);
    cells[n++] = cell_time(row->registered_ms);
}

static pawl_status read_rows(struct cli *cli, pawl_str name, struct perspective_rows *rows, pawl_error *err) {
    struct stamp_result stamped;
    pawl_status status = cli->store->ops->events.events_stamp(cli->store, 10000, &stamped, err);
    if (status == PAWL_OK)
        status = cli->store->ops->events.perspective_list(cli->store, name, cli->arena, rows, err);
    return status;
}

/* When all is applied, by how much was applied between two looks. */
static int64_t eta_of(const struct perspective_row *row, const struct perspective_rows *before,
                      int64_t elapsed_ms) {
    for (size_t i = 0; i < before->count; i++) {
        int64_t applied = row->applied - before->rows[i].applied;
        if (!str_equal(before->rows[i].key, row->key))
            continue;
        if (row->lag_events == 0)
            return 0;
        return applied > 0 ? row->lag_events * elapsed_ms / applied : -1;
    }
    return -1;
}

static pawl_status list(struct cli *cli, pawl_error *err) {
    const struct flag_value *rates = cli_flag(cli, FLAG_RATES);
    struct perspective_rows before = {0}, rows;
    pawl_str name = str_from(cli->arguments.word_count > 0 ? cli->arguments.words[0] : NULL);
    pawl_status status = PAWL_OK;
    if (rates->set) {
        status = read_rows(cli, name, &before, err);
        nanosleep(&(struct timespec){rates->number / 1000, (long)(rates->number % 1000) * 1000000}, NULL);
    }
    if (status == PAWL_OK)
        status = read_rows(cli, name, &rows, err);
    if (status != PAWL_OK)
        return status;
    if (!str_absent(name) && rows.count == 0)
        return error_set(err, PAWL_NOT_FOUND, "perspectives", "there is no perspective named %.*s",
                         STR_ARG(name));
    output_list_begin(&cli->output, columns, COLUMNS);
    for (size_t i = 0; i < rows.count; i++) {
        struct cell cells[COLUMNS];
        row_cells(cli, &rows.rows[i], eta_of(&rows.rows[i], &before, rates->number), cells);
        output_list_row(&cli->output, cells);
    }
    return output_list_end(&cli->output, "no perspectives", err);
}

static void told(void *self, const struct perspective_new *in, const struct perspective_registered *out) {
    struct cli *cli = self;
    struct cell cells[] = {cell_text(in->name), cell_int(in->version), cell_cstr(answer_name(out->answer)),
                           cell_cstr(perspective_state_name(out->state))};
    output_list_row(&cli->output, cells);
}

static pawl_status register_files(struct cli *cli, pawl_error *err) {
    static const struct column told_columns[] = {{.key = "name", .type = CELL_TEXT},
                                                 {.key = "version", .type = CELL_INT},
                                                 {.key = "answer", .type = CELL_TEXT},
                                                 {.key = "state", .type = CELL_TEXT}};
    pawl_status status = PAWL_OK;
    output_list_begin(&cli->output, told_columns, sizeof told_columns / sizeof *told_columns);
    for (int i = 0; status == PAWL_OK && i < cli->arguments.word_count; i++)
        status = perspective_register_path(cli->store, cli->arguments.words[i], told, cli, err);
    return status == PAWL_OK ? output_list_end(&cli->output, "nothing registered", err) : status;
}

static pawl_status failed(struct cli *cli, pawl_error *err) {
    static const struct column failed_columns[] = {
        {.key = "perspective", .type = CELL_TEXT},
        {.key = "stream", .type = CELL_TEXT},
        {.key = "version", .type = CELL_INT},
        {.key = "failed_version", .type = CELL_INT},
        {.key = "attempts", .type = CELL_INT},
        {.key = "stopped", .type = CELL_BOOL},
        {.key = "next", .type = CELL_TIME, .drop = 1},
        {.key = "fingerprint", .type = CELL_TEXT, .show = SHOW_WIDE},
        {.key = "error", .type = CELL_TEXT, .cut = true}};
    const struct flag_value *limit = cli_flag(cli, FLAG_LIMIT);
    int64_t rows = limit->set ? limit->number : PAWL_LIST_DEFAULT;
    struct checkpoint_filter filter = {
        .perspective = str_from(cli->arguments.word_count > 0 ? cli->arguments.words[0] : NULL),
        .stream = cli_flag(cli, FLAG_STREAM)->text,
        .status = CHECKPOINT_FAILED,
        .limit = (int)(rows < PAWL_LIST_MAX ? rows : PAWL_LIST_MAX)};
    struct checkpoint_views found;
    pawl_status status =
        cli->store->ops->events.checkpoints_list(cli->store, &filter, cli->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, failed_columns, sizeof failed_columns / sizeof *failed_columns);
    for (size_t i = 0; i < found.count; i++) {
        const struct checkpoint_view *row = &found.rows[i];
        struct cell cells[] = {cell_text(row->perspective),
                               cell_text(row->stream),
                               cell_int(row->version),
                               cell_int(row->failed_version),
                               cell_int(row->attempts),
                               cell_bool(row->stopped),
                               row->stopped ? cell_none() : cell_time(row->next_ms),
                               cell_text(row->fingerprint),
                               cell_text(row->error)};
        output_list_row(&cli->output, cells);
    }
    return output_list_end(&cli->output, "nothing has failed", err);
}

static pawl_status errors(struct cli *cli, pawl_error *err) {
    static const struct column error_columns[] = {{.key = "perspective", .type = CELL_TEXT},
                                                  {.key = "count", .type = CELL_INT},
                                                  {.key = "fingerprint", .type = CELL_TEXT},
                                                  {.key = "sample_error", .type = CELL_TEXT, .cut = true}};
    const struct flag_value *limit = cli_flag(cli, FLAG_LIMIT);
    int64_t rows = limit->set ? limit->number : PAWL_LIST_DEFAULT;
    struct checkpoint_errors found;
    pawl_status status = cli->store->ops->events.checkpoint_errors(
        cli->store, str_from(cli->arguments.word_count > 0 ? cli->arguments.words[0] : NULL),
        (int)(rows < PAWL_LIST_MAX ? rows : PAWL_LIST_MAX), cli->arena, &found, err);
    if (status != PAWL_OK)
        return status;
    output_list_begin(&cli->output, error_columns, sizeof error_columns / sizeof *error_columns);
    for (size_t i = 0; i < found.count; i++) {
        struct cell cells[] = {cell_text(found.rows[i].perspective), cell_int(found.rows[i].count),
                               cell_text(found.rows[i].fingerprint), cell_text(found.rows[i].sample)};
        output_list_row(&cli->output, cells);
    }
    return output_list_end(&cli->output, "nothing has failed", err);
}

const struct command command_perspectives_list = {
    .path = "perspectives status",
    .alias = "perspectives",
    .summary = "Show the perspectives: checkpoints by status, lag, time left",
    .arguments = "[NAME]",
    .arguments_max = 1,
    .flags = FLAG_BIT(FLAG_RATES),
    .database = DATABASE_OPEN,
    .writes = true,
    .details = "The lag is in events and in the age of the first that is not applied. With --rates, eta is "
               "the time until all is applied, at the speed measured.",
    .example = "pawl perspectives status --rates 5s",
    .run = list,
};

const struct command command_perspectives_register = {
    .path = "perspectives register",
    .summary = "Register perspectives from files or directories",
    .arguments = "FILE...",
    .arguments_min = 1,
    .arguments_max = 64,
    .database = DATABASE_MAKE,
    .writes = true,
    .details = "A file is YAML or JSON with name, version, on (patterns) and one of sql, exec, http and "
               "function; docs/perspectives.md describes it. The first version of a name is live, a further "
               "one fills beside it until pawl perspectives switch. Registering the same again changes "
               "nothing; another definition under the same version is refused.",
    .example = "pawl perspectives register perspectives/",
    .run = register_files,
};

const struct command command_perspectives_failed = {
    .path = "perspectives failed",
    .summary = "List the streams that a perspective has failed on",
    .arguments = "[NAME@VERSION]",
    .arguments_max = 1,
    .flags = FLAG_BIT(FLAG_STREAM) | FLAG_BIT(FLAG_LIMIT),
    .database = DATABASE_OPEN,
    .run = failed,
};

const struct command command_perspectives_errors = {
    .path = "perspectives errors",
    .summary = "Count failures of perspectives by what went wrong",
    .arguments = "[NAME@VERSION]",
    .arguments_max = 1,
    .flags = FLAG_BIT(FLAG_LIMIT),
    .database = DATABASE_OPEN,
    .run = errors,
};
