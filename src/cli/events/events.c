/* pawl event append from a file of lines. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "cli/input.h"
#include "cli/messages/ndjson.h"
#include "operations/events.h"

/* The events of --ndjson, or the one that the words describe. */
static pawl_status read_lines(struct cli *cli, pawl_event *events, size_t *count, pawl_error *err) {
    FILE *file = NULL;
    bool more = true;
    size_t bytes_max = (size_t)options_number(&cli->arguments.options, OPTION_PAYLOAD_LIMIT);
    pawl_status status = input_open(cli_value(cli, "ndjson").text.ptr, &file, err);
    if (status != PAWL_OK)
        return status;
    AUTO_BUF(line, bytes_max + 2 * (size_t)PAWL_METADATA_BYTES_MAX);
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
                                          .publish = cli_value(cli, "publish").number != 0,
                                          .topic = message.topic};
    }
    input_close(file);
    return status;
}

static void read_words(struct cli *cli, pawl_event *event) {
    struct value payload = cli_value(cli, "payload");
    *event = (pawl_event){.id = cli_value(cli, "id").uuid,
                          .type = cli_value(cli, "type").text,
                          .payload = payload.present ? payload.text : STR("{}"),
                          .metadata = cli_value(cli, "metadata").text,
                          .correlation_id = cli_value(cli, "correlation_id").uuid,
                          .causation_id = cli_value(cli, "causation_id").uuid,
                          .traceparent = cli_value(cli, "traceparent").text,
                          .publish = cli_value(cli, "publish").number != 0,
                          .topic = cli_value(cli, "topic").text};
}

pawl_status append_terminal(struct cli *cli, pawl_error *err) {
    struct request request = front_request(cli);
    pawl_event *events = arena_array(cli->arena, PAWL_APPEND_MAX, sizeof *events);
    struct events_append in = {
        .stream = cli_value(cli, "stream").text,
        .events = events,
        .payload_bytes_max = (size_t)options_number(&cli->arguments.options, OPTION_PAYLOAD_LIMIT)};
    if (cli_value(cli, "events").present)
        return front_run(cli, cli->arguments.command->run, err);
    if (events == NULL)
        return error_set(err, PAWL_NO_MEMORY, "append", "no memory for the events");
    if (cli_value(cli, "ndjson").present)
        TRY(read_lines(cli, events, &in.count, err));
    else
        read_words(cli, &events[in.count++]);
    return events_append(&request, &in, err);
}
