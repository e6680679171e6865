/* pawl events append and tail: from words and files, and as lines. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/thread.h"
#include "base/time/clock.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "cli/input.h"
#include "cli/messages/ndjson.h"
#include "operations/events.h"
#include "view/event.h"
#include "view/output/row.h"

enum { TAIL_MS = 100, TAIL_ROWS = 500 };

/* The events of --ndjson, or the one that the words describe. */
static pawl_status read_lines(struct cli *cli, pawl_event *events, size_t *count, pawl_error *err) {
    FILE *file = NULL;
    struct buf line;
    bool more = true;
    size_t bytes_max = (size_t)options_number(&cli->arguments.options, OPTION_PAYLOAD_LIMIT);
    pawl_status status = input_open(cli_flag(cli, FLAG_NDJSON)->text.ptr, &file, err);
    if (status != PAWL_OK)
        return status;
    buf_init(&line, bytes_max + 2 * (size_t)PAWL_METADATA_BYTES_MAX);
    for (int64_t number = 1; status == PAWL_OK && more; number++) {
        pawl_error inner = {0};
        pawl_outgoing message = {.payload = STR("{}")};
        pawl_str text = {NULL, 0};
        status = input_line(file, &line, &more, &inner);
        if (status == PAWL_OK && (!more || str_trim(buf_str(&line)).len == 0))
            continue;
        if (status == PAWL_OK && *count == PAWL_APPEND_MAX)
            status = error_set(&inner, PAWL_INVALID, "append", "one append has at most %d events",
                               PAWL_APPEND_MAX);
        if (status == PAWL_OK)
            status = str_dup(cli->arena, buf_str(&line), &text, &inner);
        if (status == PAWL_OK)
            status = ndjson_event(cli->arena, text, &message, &inner);
        if (status == PAWL_OK && !str_absent(message.stream) &&
            !str_equal_cstr(message.stream, cli->arguments.words[0]))
            status = error_set(&inner, PAWL_INVALID, "append",
                               "the stream is \"%.*s\": all events of one append go to one stream",
                               STR_ARG(message.stream));
        if (status != PAWL_OK) {
            status = error_set(err, status, "append", "line %" PRId64 ": %s", number, inner.text);
            break;
        }
        events[(*count)++] = (pawl_event){.id = message.id,
                                          .type = message.type,
                                          .payload = message.payload,
                                          .metadata = message.headers,
                                          .correlation_id = message.correlation_id,
                                          .causation_id = message.causation_id,
                                          .traceparent = message.traceparent,
                                          .publish = cli_flag(cli, FLAG_PUBLISH)->set,
                                          .topic = message.topic};
    }
    buf_free(&line);
    input_close(file);
    return status;
}

static pawl_status read_words(struct cli *cli, pawl_event *event, pawl_error *err) {
    const char *word = cli->arguments.word_count > 2 ? cli->arguments.words[2] : "{}";
    size_t bytes_max = (size_t)options_number(&cli->arguments.options, OPTION_PAYLOAD_LIMIT);
    *event = (pawl_event){.id = cli_flag(cli, FLAG_ID)->uuid,
                          .type = str_from(cli->arguments.words[1]),
                          .payload = str_from(word),
                          .correlation_id = cli_flag(cli, FLAG_CORRELATION)->uuid,
                          .causation_id = cli_flag(cli, FLAG_CAUSATION)->uuid,
                          .traceparent = cli_flag(cli, FLAG_TRACEPARENT)->text,
                          .publish = cli_flag(cli, FLAG_PUBLISH)->set,
                          .topic = cli_flag(cli, FLAG_TOPIC)->text};
    if (strcmp(word, "-") == 0)
        return input_read(cli->arena, word, bytes_max, &event->payload, err);
    return word[0] == '@' ? input_read(cli->arena, word + 1, bytes_max, &event->payload, err) : PAWL_OK;
}

static pawl_status check_append_words(struct request *request, pawl_error *err) {
    struct cli *cli = request->self;
    bool ndjson = cli_flag(cli, FLAG_NDJSON)->set;
    if (ndjson && cli->arguments.word_count > 1)
        return error_set(err, PAWL_INVALID, "append", "with --ndjson the lines have the types and payloads");
    if (!ndjson && cli->arguments.word_count < 2)
        return error_set(err, PAWL_INVALID, "append",
                         "it needs a type: pawl events append STREAM TYPE [PAYLOAD]");
    return PAWL_OK;
}

static pawl_status append(struct cli *cli, pawl_error *err) {
    struct request request = front_request(cli);
    pawl_event *events = arena_array(cli->arena, PAWL_APPEND_MAX, sizeof *events);
    struct events_append in = {
        .stream = str_from(cli->arguments.words[0]),
        .events = events,
        .payload_bytes_max = (size_t)options_number(&cli->arguments.options, OPTION_PAYLOAD_LIMIT)};
    if (events == NULL)
        return error_set(err, PAWL_NO_MEMORY, "append", "no memory for the events");
    pawl_status status = cli_flag(cli, FLAG_NDJSON)->set ? read_lines(cli, events, &in.count, err)
                                                         : read_words(cli, &events[in.count++], err);
    return status == PAWL_OK ? events_append(&request, &in, err) : status;
}

static pawl_read query_from(const struct cli *cli, const char *stream) {
    const struct flag_value *limit = cli_flag(cli, FLAG_LIMIT);
    int64_t rows = limit->set ? limit->number : PAWL_LIST_DEFAULT;
    return (pawl_read){.stream = str_from(stream),
                       .from = cli_flag(cli, FLAG_FROM)->number,
                       .backward = cli_flag(cli, FLAG_BACKWARD)->set,
                       .limit = (int)(rows < PAWL_LIST_MAX ? rows : PAWL_LIST_MAX)};
}

static void print_event(struct cli *cli, const pawl_stored_event *event) {
    struct cell cells[EVENT_COLUMNS];
    struct buf line;
    row_cells(event_columns, EVENT_COLUMNS, event, NULL, cells);
    buf_init(&line, 0);
    output_cells_json(&line, event_columns, EVENT_COLUMNS, cells);
    buf_append_char(&line, '\n');
    fwrite(line.ptr, 1, line.len, cli->output.file);
    fflush(cli->output.file);
    buf_free(&line);
}

/* The next events, printed; *from moves after them. */
static pawl_status tail_some(struct cli *cli, pawl_read *query, size_t *count, pawl_error *err) {
    struct event_list list;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_set(err, PAWL_NO_MEMORY, "tail", "no memory for the events");
    struct request request = front_request(cli);
    pawl_status status = str_absent(query->stream) ? events_stamp(&request, err) : PAWL_OK;
    if (status == PAWL_OK)
        status = cli->store->ops->events.events_read(cli->store, query, arena, &list, err);
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++) {
        print_event(cli, &list.events[i]);
        query->from = (str_absent(query->stream) ? list.events[i].position : list.events[i].version) + 1;
    }
    if (status == PAWL_OK)
        *count = list.count;
    arena_free(arena);
    return status;
}

static pawl_status tail(struct cli *cli, pawl_error *err) {
    const struct flag_value *timeout = cli_flag(cli, FLAG_TIMEOUT);
    const char *stream = cli->arguments.word_count > 0 ? cli->arguments.words[0] : NULL;
    pawl_read query = query_from(cli, stream);
    int64_t until_ms = timeout->set ? clock_boot_ms() + timeout->number : INT64_MAX;
    int64_t left = cli_flag(cli, FLAG_LIMIT)->set ? cli_flag(cli, FLAG_LIMIT)->number : INT64_MAX;
    pawl_status status = PAWL_OK;
    if (query.from == 0)
        query.from = 1;
    thread_interrupt_ends();
    while (status == PAWL_OK && left > 0) {
        size_t count = 0;
        query.limit = (int)(left < TAIL_ROWS ? left : TAIL_ROWS);
        status = tail_some(cli, &query, &count, err);
        left -= (int64_t)count;
        if (count > 0)
            continue;
        if (clock_boot_ms() >= until_ms || ferror(cli->output.file) != 0)
            break;
        nanosleep(&(struct timespec){0, TAIL_MS * 1000000L}, NULL);
    }
    return status;
}

static const struct operation append_rows[] = {
    {COMMAND("events append", "Append events to a stream"), .arguments = "STREAM [TYPE [PAYLOAD]]",
     .flags = FLAG(EXPECT) | FLAG(ID) | FLAG(NDJSON) | FLAG(PUBLISH) | FLAG(TOPIC) | FLAG(CORRELATION) |
              FLAG(CAUSATION) | FLAG(TRACEPARENT),
     .options = OPTION(PAYLOAD_LIMIT), .check = check_append_words, .database = DATABASE_MAKE, .writes = true,
     .details =
         "All events of one call get versions without a gap, in one transaction. PAYLOAD is JSON; - is "
         "standard input, @FILE a file. With --expect the stream must be at that version, else nothing is "
         "written. Repeating a call with the same ids answers duplicate. A line of --ndjson has type, "
         "payload, metadata, topic, id, correlation_id, causation_id and traceparent.",
     .example = "pawl events append order-1 OrderCreated '{\"total\":12}' --expect 0\n"
                "pawl events append order-1 --ndjson events.ndjson",
     .terminal = append},
};

static const struct operation tail_rows[] = {
    {COMMAND("events tail", "Follow a stream, or everything, as JSON lines"), .arguments = "[STREAM]",
     .flags = FLAG(FROM) | FLAG(LIMIT) | FLAG(TIMEOUT), .limit_other = true, .writes = true,
     .details = "Runs until interrupted, until --limit events were shown, or until --timeout.",
     .terminal = tail},
};

const struct operation_table events_append_commands = OPERATION_TABLE(append_rows);
const struct operation_table events_tail_commands = OPERATION_TABLE(tail_rows);
