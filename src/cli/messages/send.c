/* pawl send: puts one message, copies of it, or a file of them. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/messages/ndjson.h"
#include "view/names.h"

/* Messages of one call, unless a request key wants everything in one. */
enum { SEND_ROWS = PAWL_BATCH_DEFAULT, SEND_BYTES = 33554432 };

static const struct column columns[] = {
    {COLUMN(UUID, "id")},
    {COLUMN(TEXT, "answer")},
    {COLUMN(TEXT, "kind")},
    {COLUMN(TEXT, "type"), .cut = true},
    {COLUMN(TEXT, "stream"), .cut = true},
    {COLUMN(INT, "partition")},
    {COLUMN(INT, "lane")},
};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

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
    const struct arguments *arguments = &cli->arguments;
    if (arguments->header_count == 0)
        return PAWL_OK;
    struct buf buf;
    buf_init(&buf, PAWL_METADATA_BYTES_MAX);
    struct json_writer writer;
    json_writer_init(&writer, &buf);
    json_begin_object(&writer);
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < arguments->header_count && status == PAWL_OK; i++) {
        pawl_str header = arguments->headers[i];
        const char *equals = memchr(header.ptr, '=', header.len);
        if (equals == NULL || equals == header.ptr) {
            status = error_set(err, PAWL_INVALID, "send", "--header is \"%.*s\": write KEY=VALUE",
                               STR_ARG(header));
            break;
        }
        size_t key_len = (size_t)(equals - header.ptr);
        for (size_t j = 0; j < i; j++)
            if (strncmp(arguments->headers[j].ptr, header.ptr, key_len + 1) == 0)
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
    buf_free(&buf);
    return status;
}

/* What the command line says about a message, payload excepted. */
static pawl_status message_from_flags(struct cli *cli, pawl_outgoing *message, pawl_error *err) {
    *message = (pawl_outgoing){
        .id = cli_flag(cli, FLAG_ID)->uuid,
        .stream = cli_flag(cli, FLAG_STREAM)->text,
        .topic = cli_flag(cli, FLAG_TOPIC)->text,
        .type = str_from(cli->arguments.word_count > 0 ? cli->arguments.words[0] : NULL),
        .payload = STR("{}"),
        .correlation_id = cli_flag(cli, FLAG_CORRELATION)->uuid,
        .causation_id = cli_flag(cli, FLAG_CAUSATION)->uuid,
        .traceparent = cli_flag(cli, FLAG_TRACEPARENT)->text,
    };
    return headers_json(cli, &message->headers, err);
}

static void message_row(struct sender *sender, const pawl_outgoing *message, pawl_uuid id,
                        enum store_answer answer, struct cell cells[static COLUMNS]) {
    bool stream = !str_absent(message->stream);
    uint32_t partition = stream ? partition_of(message->stream, (uint32_t)sender->settings.partition_count)
                                : 0;
    uint32_t lane = lane_of(partition, (uint32_t)sender->settings.lane_count);
    cells[0] = cell_uuid(id);
    cells[1] = cell_cstr(answer_name(answer));
    cells[2] = cell_cstr(kind_name(sender->put.kind));
    cells[3] = cell_text(message->type);
    cells[4] = cell_text(message->stream);
    cells[5] = stream ? cell_int(partition) : cell_none();
    cells[6] = stream ? cell_int(lane) : cell_none();
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
        struct cell cells[COLUMNS];
        sender->counts[result.answers[i]]++;
        message_row(sender, &messages[i], result.ids[i], result.answers[i], cells);
        if (!sender->list)
            status = output_record(output, columns, COLUMNS, cells, err);
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
    pawl_status status = PAWL_OK;
    if (reader->count > 0)
        status = send_some(sender, reader->messages, reader->count, err);
    reader->count = 0;
    arena_reset(sender->arena);
    return status;
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
    pawl_status status = str_dup(sender->arena, line, &copy, err);
    if (status == PAWL_OK)
        status = ndjson_message(sender->arena, copy, &message, err);
    if (status != PAWL_OK)
        return status;
    struct messages_put one = sender->put;
    one.messages = &message;
    one.count = 1;
    status = check_put(&one, err);
    if (status == PAWL_OK)
        reader->messages[reader->count++] = message;
    return status;
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
    pawl_status status = input_open(cli_flag(sender->cli, FLAG_NDJSON)->text.ptr, &reader.file, err);
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

/* Combinations that cannot mean anything. */
static pawl_status check_usage(struct request *request, pawl_error *err) {
    struct cli *cli = request->self;
    bool ndjson = cli_flag(cli, FLAG_NDJSON)->set;
    int words = cli->arguments.word_count;
    const struct flag_value *count = cli_flag(cli, FLAG_COUNT);
    bool inbox = cli_kind(cli, KIND_OUTBOX) == KIND_INBOX;
    if (cli_kind(cli, KIND_OUTBOX) == KIND_PERSPECTIVE)
        return error_set(err, PAWL_INVALID, "send",
                         "--kind is outbox or inbox: perspectives are fed by events");
    if (inbox != cli_flag(cli, FLAG_CONSUMER)->set)
        return error_set(err, PAWL_INVALID, "send", "%s",
                         inbox ? "an inbox message needs --consumer, the name under which it is deduplicated"
                               : "--consumer is for --kind inbox");
    if (ndjson && (words > 1 || count->set || cli_flag(cli, FLAG_ID)->set))
        return error_set(err, PAWL_INVALID, "send",
                         "with --ndjson the lines have the payload, the count and the id");
    if (!ndjson && words == 0)
        return error_set(err, PAWL_INVALID, "send", "it needs a type: pawl send TYPE [PAYLOAD]");
    if (count->set && count->number > 1 && cli_flag(cli, FLAG_ID)->set)
        return error_set(err, PAWL_INVALID, "send",
                         "--id names one message, --count sends more: leave one out");
    if (count->set && count->number > PAWL_BATCH_MAX && cli_flag(cli, FLAG_REQUEST)->set)
        return error_set(err, PAWL_INVALID, "send", "more than %d messages cannot go under one --request",
                         PAWL_BATCH_MAX);
    return PAWL_OK;
}

/* The payload word: text, - for standard input, @file. */
static pawl_status read_payload(struct cli *cli, size_t bytes_max, pawl_str *payload, pawl_error *err) {
    const char *word = cli->arguments.word_count > 1 ? cli->arguments.words[1] : "{}";
    if (strcmp(word, "-") == 0)
        return input_read(cli->arena, word, bytes_max, payload, err);
    if (word[0] == '@')
        return input_read(cli->arena, word + 1, bytes_max, payload, err);
    *payload = str_from(word);
    return PAWL_OK;
}

static pawl_status send_all(struct sender *sender, pawl_error *err) {
    struct cli *cli = sender->cli;
    pawl_outgoing message;
    pawl_status status = message_from_flags(cli, &message, err);
    if (status != PAWL_OK)
        return status;
    if (cli_flag(cli, FLAG_NDJSON)->set)
        return send_lines(sender, &message, err);
    status = read_payload(cli, sender->put.payload_bytes_max, &message.payload, err);
    if (status != PAWL_OK)
        return status;
    int64_t count = cli_flag(cli, FLAG_COUNT)->set ? cli_flag(cli, FLAG_COUNT)->number : 1;
    return send_copies(sender, &message, count, err);
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

static pawl_status run(struct cli *cli, pawl_error *err) {
    struct sender sender = {.cli = cli,
                            .list = cli_flag(cli, FLAG_NDJSON)->set || cli_flag(cli, FLAG_COUNT)->set};
    sender.put = (struct messages_put){
        .kind = cli_kind(cli, KIND_OUTBOX),
        .consumer = cli_flag(cli, FLAG_CONSUMER)->text,
        .request = cli_flag(cli, FLAG_REQUEST)->uuid,
        .payload_bytes_max = (size_t)options_number(&cli->arguments.options, OPTION_PAYLOAD_LIMIT),
    };
    pawl_status status = cli->store->ops->core.settings_read(cli->store, &sender.settings, err);
    if (status != PAWL_OK)
        return status;
    sender.arena = arena_create(0);
    if (sender.arena == NULL)
        return error_set(err, PAWL_NO_MEMORY, "send", "no memory for the messages");
    if (sender.list)
        output_list_begin(&cli->output, columns, COLUMNS);
    status = send_all(&sender, err);
    if (status == PAWL_OK)
        status = finish(&sender, err);
    else if (status == PAWL_UNKNOWN)
        cli->hint =
            cli_flag(cli, FLAG_REQUEST)->set
                ? "It may have happened: send again with the same --request, which cannot send it twice."
                : "It may have happened: look with pawl messages list; with --request sending again is safe.";
    arena_free(sender.arena);
    return status;
}

static const struct operation commands[] = {
    {COMMAND("send", "Put a message into the outbox or the inbox"), .arguments = "TYPE [PAYLOAD|-|@FILE]",
     .arguments_optional = true,
     .flags = FLAG(STREAM) | FLAG(TOPIC) | FLAG(ID) | FLAG(HEADER) | FLAG(KIND) | FLAG(CONSUMER) |
              FLAG(COUNT) | FLAG(REQUEST) | FLAG(NDJSON) | FLAG(CORRELATION) | FLAG(CAUSATION) |
              FLAG(TRACEPARENT),
     .options = OPTION(PAYLOAD_LIMIT) | OPTION(DURABILITY), .check = check_usage, .database = DATABASE_MAKE,
     .writes = true,
     .details = "The payload is JSON: a word, - for standard input, or @FILE; without one it is {}. The "
                "answer says the id, and whether the message was applied, is a duplicate (an inbox message "
                "that the consumer has, or a --request that was used), or is in conflict (the consumer has "
                "the id with another payload).\n"
                "\n"
                "With --count or --ndjson the answer is a list. A file is sent in calls of 500 lines: when a "
                "line is wrong, the error says how many messages before it were sent; with --request it is "
                "all or nothing.\n"
                "\n"
                "When the database is an SQLite file that does not exist, it is made.",
     .example = "pawl send order.created '{\"id\": 1}' --stream order-1\n"
                "pawl send order.created @order.json --topic orders --header tenant=acme\n"
                "pawl send mail.received - --kind inbox --consumer mailer --id "
                "01890a5d-ac96-774b-bcce-b302099a8057 < mail.json\n"
                "pawl send --ndjson events.ndjson",
     .terminal = run},
};

const struct operation_table send_commands = OPERATION_TABLE(commands);
