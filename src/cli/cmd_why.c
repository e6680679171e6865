/* pawl why: what a message is waiting for, in one paragraph. */
#include "base/error.h"
#include "base/uuid.h"
#include "cli/commands.h"
#include "cli/message_view.h"
#include "cli/names.h"
#include "cli/why_story.h"

static pawl_status print_json(struct cli *cli, const struct why *why, const struct buf texts[static 2],
                              pawl_error *err) {
    static const struct column columns[] = {
        {.key = "id", .type = CELL_UUID},
        {.key = "cause", .type = CELL_TEXT},
        {.key = "state", .type = CELL_TEXT},
        {.key = "explanation", .type = CELL_TEXT},
        {.key = "next", .type = CELL_TEXT},
        {.key = "instance", .type = CELL_UUID},
        {.key = "until", .type = CELL_TIME},
        {.key = "now", .type = CELL_TIME},
        {.key = "blocker_id", .type = CELL_UUID},
        {.key = "blocker_seq", .type = CELL_INT},
        {.key = "blocker_cause", .type = CELL_TEXT},
        {.key = "message", .type = CELL_JSON},
    };
    struct cell message_values[MESSAGE_COLUMNS];
    struct buf message;
    buf_init(&message, 0);
    message_cells(&why->row, message_values);
    output_cells_json(&message, message_columns, MESSAGE_COLUMNS, message_values);
    bool blocked = !uuid_is_nil(why->blocker_id);
    struct cell cells[] = {
        cell_uuid(why->row.item.id),
        cell_cstr(cause_name(why->cause)),
        cell_cstr(state_name(why->row.state)),
        cell_text(buf_str(&texts[0])),
        cell_text(buf_str(&texts[1])),
        cell_uuid(why->instance),
        cell_time(why->until_ms),
        cell_time(why->now_ms),
        cell_uuid(why->blocker_id),
        blocked ? cell_int(why->blocker_seq) : cell_none(),
        blocked ? cell_cstr(cause_name(why->blocker_cause)) : cell_none(),
        cell_text(buf_str(&message)),
    };
    pawl_status status = buf_status(&message, "why", err);
    if (status == PAWL_OK)
        status = output_record(&cli->output, columns, sizeof columns / sizeof *columns, cells, err);
    buf_free(&message);
    return status;
}

static pawl_status run(struct cli *cli, pawl_error *err) {
    pawl_uuid id;
    struct why why;
    pawl_status status = cli_uuid(cli->arguments.words[0], &id, err);
    if (status == PAWL_OK)
        status = cli->store->ops->view.why(cli->store, id, cli->arena, &why, err);
    if (status == PAWL_NOT_FOUND) {
        cli->hint = "It may be done and no longer kept: see pawl settings show for how long the history is.";
        return error_set(err, status, "why", "there is no message with id %s", cli->arguments.words[0]);
    }
    if (status != PAWL_OK)
        return status;
    struct buf texts[2]; /* what holds, what to do */
    buf_init(&texts[0], 0);
    buf_init(&texts[1], 0);
    why_story(&why, &texts[0], &texts[1]);
    status = buf_status(&texts[0], "why", err);
    if (status == PAWL_OK)
        status = buf_status(&texts[1], "why", err);
    if (status == PAWL_OK && output_is_json(&cli->output))
        status = print_json(cli, &why, texts, err);
    else if (status == PAWL_OK)
        output_say(&cli->output, "%s\nWhat to do: %s", texts[0].ptr, texts[1].ptr);
    buf_free(&texts[0]);
    buf_free(&texts[1]);
    return status;
}

const struct command command_why = {
    .path = "why",
    .summary = "Explain what a message is waiting for, and what to do",
    .arguments = "ID",
    .arguments_min = 1,
    .arguments_max = 1,
    .check = cli_check_ids,
    .database = DATABASE_OPEN,
    .details = "Tells the state and its cause: who runs it and until when, which message of the stream is in "
               "front of "
               "it and why that one waits, when the next attempt is, or that its lane has no owner. The JSON "
               "has the "
               "same facts.",
    .example = "pawl why 01890a5d-ac96-774b-bcce-b302099a8057",
    .run = run,
};
