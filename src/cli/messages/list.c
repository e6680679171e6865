/* Messages that a command line asks for: the filter that its flags make, listed and shown. */
#include "cli/messages/list.h"

#include <string.h>

#include "base/error.h"
#include "cli/front.h"
#include "operations/messages.h"
#include "view/message.h"

struct message_filter message_filter_of(struct cli *cli) {
    struct request request = front_request(cli);
    return message_filter_from(&request);
}

/* Rows that are printed up to a limit; one more is asked for to know whether that is all. */
struct listing {
    struct output *output;
    int64_t left;
    bool more;
};

static pawl_status print_row(void *self, const struct message_row *row, pawl_error *err) {
    (void)err;
    struct listing *listing = self;
    struct cell cells[MESSAGE_COLUMNS];
    listing->more = listing->left-- <= 0;
    if (listing->more)
        return PAWL_OK;
    message_cells(row, cells);
    output_list_row(listing->output, cells);
    return PAWL_OK;
}

/* Of dead letters the state is known, and what went wrong is what one wants to read. */
static void columns_for(int state, struct column columns[static MESSAGE_COLUMNS]) {
    for (size_t i = 0; i < MESSAGE_COLUMNS; i++) {
        columns[i] = message_columns[i];
        if (state == STATE_DEAD && strcmp(columns[i].key, "state") == 0)
            columns[i].show = SHOW_WIDE;
        if (state == STATE_DEAD && strcmp(columns[i].key, "error") == 0)
            columns[i].drop = 0;
    }
}

pawl_status messages_list(struct cli *cli, int state, const char *empty, pawl_error *err) {
    const struct flag_value *limit = cli_flag(cli, FLAG_LIMIT);
    struct message_filter filter = message_filter_of(cli);
    if (state != 0)
        filter.state = state;
    struct column columns[MESSAGE_COLUMNS];
    columns_for(state, columns);
    int64_t rows = limit->set ? limit->number : PAWL_LIST_DEFAULT;
    struct listing listing = {.output = &cli->output, .left = rows};
    output_list_begin(&cli->output, columns, MESSAGE_COLUMNS);
    pawl_status status = messages_visit(cli->store, filter, rows + 1, print_row, &listing, err);
    if (status == PAWL_OK)
        status = output_list_end(&cli->output, empty, err);
    cli->list_said = true;
    if (status == PAWL_OK && listing.more)
        cli_say_more(cli, rows);
    return status;
}

/* Several messages with one id: a list in JSON, records one below the other otherwise. */
static pawl_status show_rows(struct cli *cli, const struct message_rows *rows, pawl_error *err) {
    bool list = rows->count > 1 && output_is_json(&cli->output);
    pawl_status status = PAWL_OK;
    if (list)
        output_list_begin(&cli->output, message_columns, MESSAGE_COLUMNS);
    for (size_t i = 0; i < rows->count && status == PAWL_OK; i++) {
        struct cell cells[MESSAGE_COLUMNS];
        message_cells(&rows->rows[i], cells);
        if (i > 0)
            output_say(&cli->output, "%s", "");
        if (list)
            output_list_row(&cli->output, cells);
        else
            status = output_record(&cli->output, message_columns, MESSAGE_COLUMNS, cells, err);
    }
    return list ? output_list_end(&cli->output, "", err) : status;
}

pawl_status messages_show(struct cli *cli, int state, const char *noun, pawl_error *err) {
    struct request request = front_request(cli);
    pawl_uuid id;
    struct message_rows rows;
    pawl_status status = cli_uuid(cli->arguments.words[0], &id, err);
    if (status == PAWL_OK)
        status = messages_with_id(&request, id, state, 0, &rows, err);
    if (status != PAWL_OK)
        return status;
    if (rows.count == 0)
        return error_set(err, PAWL_NOT_FOUND, "messages", "there is no %s with id %s", noun,
                         cli->arguments.words[0]);
    return show_rows(cli, &rows, err);
}
