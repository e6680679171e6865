/* pawl send on a terminal: one message, copies of it, or a file of them. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "cli/input.h"
#include "cli/messages/ndjson.h"
#include "operations/messages.h"

/* Messages of one call, unless a request key wants everything in one. */
enum { SEND_ROWS = PAWL_BATCH_DEFAULT, SEND_BYTES = 33554432 };

struct sender {
    struct cli *cli;
    struct settings settings;
    struct messages_put put;
    struct arena *arena; /* of one call */
    bool list;           /* many messages: a list of answers instead of one record */
    int64_t counts[ANSWER_NOT_FOUND + 1];
    int64_t sent;
};

/* The object of every --header key=value, in *text; absent when there is none. */
static pawl_status headers_json(struct cli *cli, pawl_str *text, pawl_error *err) {
    const struct tree *headers = cli_value(cli, "header").tree;
    struct json_writer writer;
    pawl_status status = PAWL_OK;
    if (headers == NULL)
        return PAWL_OK;
    AUTO_BUF(buf, PAWL_METADATA_BYTES_MAX);
    json_writer_init(&writer, &buf);
    json_begin_object(&writer);
    for (size_t i = 0; i < headers->count && status == PAWL_OK; i++) {
        pawl_str header = headers->items[i]->text;
        const char *equals = memchr(header.ptr, '=', header.len);
        size_t key_len = equals != NULL ? (size_t)(equals - header.ptr) : 0;
        if (key_len == 0) {
            status = error_set(err, PAWL_INVALID, "send", "--header is \"%.*s\": write KEY=VALUE",
                               STR_ARG(header));
            break;
        }
        for (size_t j = 0; j < i; j++)
            if (strncmp(headers->items[j]->text.ptr, header.ptr, key_len + 1) == 0)
                status = error_set(err, PAWL_INVALID, "send", "--header %.*s is there twice", (int)key_len,
                                   header.ptr);
        char *key = arena_printf(cli->arena, "%.*s", (int)key_len, header.ptr);
        if (key == NULL)
            status = error_set(err, PAWL_NO_MEMORY, "send", "no memory for the headers");
        if (status != PAWL_OK)
            break;
        json_key(&writer, key);
        json_str(&writer, (pawl_str){equals + 1, header.len - key_len - 1});
    }
    json_end_object(&writer);
    if (status == PAWL_OK)
        status = buf_status(&buf, "send", err);
    if (status == PAWL_OK)
        status = str_dup(cli->arena, buf_str(&buf), text, err);
    return status;
}

/* What the command line says about a message. */
static pawl_status message_from_flags(struct cli *cli, pawl_outgoing *message, pawl_error *err) {
    *message = (pawl_outgoing){.payload = STR("{}")};
    for (size_t i = 0; i < message_input_count; i++) {
        struct value value = cli_value(cli, message_inputs[i].name);
        if (value.present)
            message_input_set(message, &message_inputs[i], value.text, value.uuid);
    }
    return headers_json(cli, &message->headers, err);
}

/* One call. Many applied messages are only counted in a table: their ids would fill the screen. */
static pawl_status send_some(struct sender *sender, const pawl_outgoing *messages, size_t count,
                             pawl_error *err) {
    struct output *output = &sender->cli->output;
    struct put_result result;
    sender->put.messages = messages;
    sender->put.count = count;
    struct putter putter = cli_putter(sender->cli, sender->arena);
    pawl_status status = traced_put(&putter, &sender->put, &result, err);
    if (status != PAWL_OK)
        return status;
    sender->sent += (int64_t)count;
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        struct cell cells[SENT_COLUMNS];
        sender->counts[result.answers[i]]++;
        sent_cells(&(struct sent){sender->put.kind, &messages[i], result.ids[i], result.answers[i]},
                   &sender->settings, cells);
        if (!sender->list)
            status = output_record(output, sent_columns, SENT_COLUMNS, cells, err);
        else if (output_is_json(output) || result.answers[i] != ANSWER_APPLIED)
            output_list_row(output, cells);
    }
    return status;
}

static pawl_status send_copies(struct sender *sender, const pawl_outgoing *message, int64_t count,
                               pawl_error *err) {
    size_t chunk = uuid_is_nil(sender->put.request) ? SEND_ROWS : PAWL_BATCH_MAX;
    pawl_outgoing *copies = arena_array(sender->cli->arena, chunk, sizeof *copies);
    if (copies == NULL)
        return error_set(err, PAWL_NO_MEMORY, "send", "no memory for %zu messages", chunk);
    for (size_t i = 0; i < chunk; i++)
        copies[i] = *message;
    pawl_status status = PAWL_OK;
    for (int64_t left = count; left > 0 && status == PAWL_OK; left -= (int64_t)chunk) {
        arena_reset(sender->arena);
        status = send_some(sender, copies, left < (int64_t)chunk ? (size_t)left : chunk, err);
    }
    return status;
}

/* A file of lines on its way into calls. */
struct line_reader {
    FILE *file;
    struct buf line;
    int64_t line_no;
    pawl_outgoing *messages;
    size_t count, count_max;
};

/* Which messages are in the database when the file was not sent to its end. */
static void tell_sent(struct sender *sender) {
    if (sender->sent == 0)
        sender->cli->hint = "No message of the file was sent.";
    else
        sender->cli->hint = arena_printf(
            sender->cli->arena, "The first %" PRId64 " messages of the file were sent.", sender->sent);
}

/* Sends what has been read. */
static pawl_status flush_lines(struct sender *sender, struct line_reader *reader, pawl_error *err) {
    if (reader->count > 0)
        TRY(send_some(sender, reader->messages, reader->count, err));
    reader->count = 0;
    arena_reset(sender->arena);
    return PAWL_OK;
}

/* One line into the next message; blank lines are passed over. */
static pawl_status take_line(struct sender *sender, struct line_reader *reader, const pawl_outgoing *defaults,
                             pawl_error *err) {
    pawl_str line = str_trim(buf_str(&reader->line));
    if (line.len == 0)
        return PAWL_OK;
    if (reader->count == reader->count_max) /* only a request key fills the array: see send_lines */
        return error_set(err, PAWL_INVALID, "send", "more than %d lines cannot go under one --request",
                         PAWL_BATCH_MAX);
    pawl_outgoing message = *defaults;
    pawl_str copy;
    TRY(str_dup(sender->arena, line, &copy, err));
    TRY(ndjson_message(sender->arena, copy, &message, err));
    struct messages_put one = sender->put;
    one.messages = &message;
    one.count = 1;
    TRY(check_put(&one, err));
    reader->messages[reader->count++] = message;
    return PAWL_OK;
}

static pawl_status read_lines(struct sender *sender, struct line_reader *reader,
                              const pawl_outgoing *defaults, pawl_error *err) {
    bool at_once = !uuid_is_nil(sender->put.request);
    for (;;) {
        bool more = false;
        pawl_error inner = {.status = PAWL_OK};
        reader->line_no++;
        pawl_status status = input_line(reader->file, &reader->line, &more, &inner);
        if (status == PAWL_OK && !more)
            return flush_lines(sender, reader, err);
        if (status == PAWL_OK)
            status = take_line(sender, reader, defaults, &inner);
        if (status != PAWL_OK)
            return error_set(err, status, "send", "line %" PRId64 ": %s", reader->line_no, inner.text);
        bool full = reader->count >= SEND_ROWS || arena_used(sender->arena) >= SEND_BYTES;
        if (full && !at_once)
            status = flush_lines(sender, reader, err);
        if (status != PAWL_OK)
            return status;
    }
}

static pawl_status send_lines(struct sender *sender, const pawl_outgoing *defaults, pawl_error *err) {
    struct line_reader reader = {.count_max = PAWL_BATCH_MAX};
    pawl_status status = input_open(cli_value(sender->cli, "ndjson").text.ptr, &reader.file, err);
    if (status != PAWL_OK)
        return status;
    buf_init(&reader.line, sender->put.payload_bytes_max + 2 * (size_t)PAWL_METADATA_BYTES_MAX);
    reader.messages = arena_array(sender->cli->arena, reader.count_max, sizeof *reader.messages);
    if (reader.messages == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "send", "no memory for the messages");
    if (status == PAWL_OK)
        status = read_lines(sender, &reader, defaults, err);
    if (status != PAWL_OK && status != PAWL_UNKNOWN)
        tell_sent(sender);
    buf_free(&reader.line);
    input_close(reader.file);
    return status;
}

static pawl_status send_all(struct sender *sender, pawl_error *err) {
    struct cli *cli = sender->cli;
    struct value count = cli_value(cli, "count");
    pawl_outgoing message;
    TRY(message_from_flags(cli, &message, err));
    return cli_value(cli, "ndjson").present
               ? send_lines(sender, &message, err)
               : send_copies(sender, &message, count.present ? count.number : 1, err);
}

static pawl_status finish(struct sender *sender, pawl_error *err) {
    struct output *output = &sender->cli->output;
    pawl_status status = PAWL_OK;
    if (sender->list) {
        output_say(output,
                   "%" PRId64 " sent: %" PRId64 " applied, %" PRId64 " duplicate, %" PRId64 " conflict",
                   sender->sent, sender->counts[ANSWER_APPLIED], sender->counts[ANSWER_DUPLICATE],
                   sender->counts[ANSWER_CONFLICT]);
        if (output_is_json(output) || output->row_count > 0)
            status = output_list_end(output, "", err);
    }
    if (status != PAWL_OK || sender->counts[ANSWER_CONFLICT] == 0)
        return status;
    sender->cli->hint = "Send the changed message with a new id.";
    return error_set(err, PAWL_CONFLICT, "send",
                     "%" PRId64 " of %" PRId64 " refused: the consumer knows the id with another payload",
                     sender->counts[ANSWER_CONFLICT], sender->sent);
}

pawl_status send_terminal(struct cli *cli, pawl_error *err) {
    struct sender sender = {.cli = cli,
                            .list = cli_value(cli, "ndjson").present || cli_value(cli, "count").present};
    if (cli_value(cli, "messages").present)
        return front_run(cli, cli->arguments.command->run, err);
    sender.put = (struct messages_put){
        .kind = cli_value(cli, "kind").number + 1 == KIND_INBOX ? KIND_INBOX : KIND_OUTBOX,
        .consumer = cli_value(cli, "consumer").text,
        .request = cli_value(cli, "request").uuid,
        .payload_bytes_max = (size_t)options_number(&cli->arguments.options, OPTION_PAYLOAD_LIMIT),
    };
    pawl_status status = cli->store->ops->core.settings_read(cli->store, &sender.settings, err);
    if (status != PAWL_OK)
        return status;
    sender.arena = arena_create(0);
    if (sender.arena == NULL)
        return error_set(err, PAWL_NO_MEMORY, "send", "no memory for the messages");
    if (sender.list)
        output_list_begin(&cli->output, sent_columns, SENT_COLUMNS);
    status = send_all(&sender, err);
    if (status == PAWL_OK)
        status = finish(&sender, err);
    else if (status == PAWL_UNKNOWN)
        cli->hint =
            cli_value(cli, "request").present
                ? "It may have happened: send again with the same --request, which cannot send it twice."
                : "It may have happened: look with pawl message list; with --request sending again is safe.";
    arena_free(sender.arena);
    return status;
}
