/* Calling tools that are programs and endpoints. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "handler/program_run.h"
#include "handler/tools/int.h"
#include "handler/webhook.h"

enum { PAIRS_OWN = 3 };

static pawl_status judge_end(const struct tool_call *call, const struct program_result *result,
                             struct tool_answer *answer, pawl_error *err) {
    const struct program_verdict *verdict = &result->verdict;
    switch (result->process.outcome) {
    case PROCESS_CANCELLED:
    case PROCESS_STOPPED:
    case PROCESS_FENCED:
        return error_set(err, PAWL_STALE, "tools", "the call of %.*s was cancelled", STR_ARG(call->uses));
    case PROCESS_TIMED_OUT:
        return error_set(err, PAWL_UNAVAILABLE, "tools", "the tool %.*s did not finish in time",
                         STR_ARG(call->uses));
    case PROCESS_FLOODED:
        return error_set(err, PAWL_INVALID, "tools", "the tool %.*s wrote more than %d bytes",
                         STR_ARG(call->uses), TOOLS_OUTPUT_BYTES_MAX);
    case PROCESS_NOT_STARTED:
        return error_set(err, result->status, "tools", "%s", verdict->error);
    case PROCESS_EXITED:
    case PROCESS_SIGNALLED:
        break;
    }
    if (verdict->outcome == HANDLED_DONE)
        return PAWL_OK;
    answer->retry_after_ms = verdict->delay_ms;
    answer->throttled = verdict->outcome == HANDLED_SNOOZE;
    return error_set(err, verdict->outcome == HANDLED_PERMANENT ? PAWL_INVALID : PAWL_UNAVAILABLE, "tools",
                     "the tool %.*s failed: %s", STR_ARG(call->uses), verdict->error);
}

static const char *copy(struct arena *arena, pawl_str text) {
    return !str_absent(text) ? arena_copy(arena, text.ptr, text.len) : NULL;
}

pawl_status tools_process_call(struct tools *tools, const struct tool *tool, const struct tool_call *call,
                               struct arena *arena, struct tool_answer *answer, pawl_error *err) {
    struct environment_pair *pairs = arena_array(arena, tool->pair_count + PAIRS_OWN, sizeof(*pairs));
    const struct environment_pair own[PAIRS_OWN] = {
        {"PAWL_TOOL", copy(arena, call->uses)},
        {"PAWL_IDEMPOTENCY_KEY", copy(arena, call->idempotency_key)},
        {"TRACEPARENT", copy(arena, call->traceparent)}};
    const struct environment_pair names[PAIRS_OWN] = {
        {"tool", own[0].value}, {"idempotency_key", own[1].value}, {"traceparent", own[2].value}};
    struct program_result result;
    struct buf body;
    if (pairs == NULL)
        return error_no_memory(err, "tools");
    if (tool->pair_count > 0)
        memcpy(pairs, tool->pairs, tool->pair_count * sizeof(*pairs));
    memcpy(pairs + tool->pair_count, own, sizeof(own));
    buf_init(&body, 0);
    tree_write(&body, call->arguments);
    buf_append_char(&body, '\n');
    pawl_status status = buf_status(&body, "tools", err);
    if (status == PAWL_OK) {
        program_run(&(struct program_call){.argv = tool->argv,
                                           .launcher = tools->launcher,
                                           .pipe = tool->pipe,
                                           .what = "arguments",
                                           .body = buf_str(&body),
                                           .pairs = pairs,
                                           .pair_count = tool->pair_count + PAIRS_OWN,
                                           .names = names,
                                           .name_count = PAIRS_OWN,
                                           .out_max = TOOLS_OUTPUT_BYTES_MAX,
                                           .limits = {call->deadline_ms, call->cancel}},
                    &result);
        if (result.process.wait_ms > 0 && call->not_started_ms != NULL)
            atomic_store(call->not_started_ms, result.process.wait_ms);
        status = judge_end(call, &result, answer, err);
        answer->begun = status == PAWL_UNAVAILABLE &&
                        (result.unanswered || result.process.outcome == PROCESS_TIMED_OUT ||
                         result.process.outcome == PROCESS_SIGNALLED);
        if (status == PAWL_OK)
            status = tools_output(arena, buf_str(&result.output), &answer->output, err);
        buf_free(&result.output);
    }
    buf_free(&body);
    return status;
}

static struct http_client *take_client(struct tools *tools) {
    struct http_client *client = NULL;
    pthread_mutex_lock(&tools->lock);
    if (tools->client_count > 0)
        client = tools->clients[--tools->client_count];
    pthread_mutex_unlock(&tools->lock);
    return client;
}

static void give_client(struct tools *tools, struct http_client *client) {
    pthread_mutex_lock(&tools->lock);
    if (tools->client_count < TOOLS_SESSIONS_MAX) {
        tools->clients[tools->client_count++] = client;
        client = NULL;
    }
    pthread_mutex_unlock(&tools->lock);
    http_client_free(client);
}

static pawl_status judge_response(const struct tool_call *call, const struct http_response *response,
                                  struct tool_answer *answer, pawl_error *err) {
    pawl_status status = http_meaning(response->status);
    if (status == PAWL_OK)
        return PAWL_OK;
    answer->retry_after_ms = response->retry_after_ms;
    answer->throttled = response->status == 429;
    pawl_str said = response->body;
    if (said.len > 300)
        said.len = 300;
    return error_set(err, status, "tools", "the tool %.*s answered with HTTP status %d%s%.*s",
                     STR_ARG(call->uses), response->status, said.len > 0 ? ": " : "", STR_ARG(said));
}

/* The address with the arguments after it: texts as they are, what is null is left out, the rest as JSON. */
static pawl_status query_url(const struct tool *tool, const struct tree *arguments, struct arena *arena,
                             const char **url, pawl_error *err) {
    struct buf text, value;
    char sign = strchr(tool->url, '?') != NULL ? '&' : '?';
    buf_init(&text, HTTP_URL_BYTES_MAX);
    buf_init(&value, HTTP_URL_BYTES_MAX);
    buf_append_cstr(&text, tool->url);
    for (size_t i = 0; i < arguments->count; i++) {
        const struct tree *item = arguments->items[i];
        if (item->kind == TREE_NULL)
            continue;
        value.len = 0;
        if (item->kind == TREE_STRING)
            buf_append(&value, item->text.ptr, item->text.len);
        else
            tree_write(&value, item);
        buf_append_char(&text, sign);
        percent_encode(&text, item->key);
        buf_append_char(&text, '=');
        percent_encode(&text, buf_str(&value));
        sign = '&';
    }
    char *copy = text.failed || value.failed ? NULL : arena_copy(arena, text.ptr, text.len);
    pawl_status status = PAWL_OK;
    if (copy == NULL)
        status = error_set(err, PAWL_INVALID, "tools",
                           "the address with its arguments has more than %d bytes", HTTP_URL_BYTES_MAX);
    else
        *url = copy;
    buf_free(&text);
    buf_free(&value);
    return status;
}

pawl_status tools_http_call(struct tools *tools, const struct tool *tool, const struct tool_call *call,
                            struct arena *arena, struct tool_answer *answer, pawl_error *err) {
    struct http_header headers[WEBHOOK_HEADERS_MAX + HTTP_HEADERS_MAX];
    struct http_response response = {0};
    char id[UUID_TEXT_BYTES];
    size_t count = 0;
    struct buf body;
    buf_init(&body, 0);
    tree_write(&body, call->arguments);
    pawl_status status = buf_status(&body, "tools", err);
    struct webhook_event event = {.id = call->idempotency_key,
                                  .source = STR("/pawl"),
                                  .type = call->uses,
                                  .traceparent = call->traceparent,
                                  .body = buf_str(&body)};
    if (str_absent(event.id)) {
        pawl_uuid fresh = uuid_nil();
        if (status == PAWL_OK)
            status = uuid_next(&fresh, err);
        event.id = str_from(uuid_format(fresh, id));
    }
    struct http_client *client = take_client(tools);
    if (status == PAWL_OK && client == NULL)
        status = http_client_create(&client, err);
    if (status == PAWL_OK)
        status = webhook_headers(&event, tool->secret, clock_wall_ms() / 1000, arena, headers, &count, err);
    for (size_t i = 0; i < tool->header_count && count < HTTP_HEADERS_MAX; i++)
        headers[count++] = tool->headers[i];
    struct http_request request = {.url = tool->url,
                                   .headers = headers,
                                   .header_count = count,
                                   .body = event.body,
                                   .deadline_ms = call->deadline_ms,
                                   .cancel = call->cancel,
                                   .body_bytes_max = TOOLS_OUTPUT_BYTES_MAX,
                                   .allow_private = tool->allow_private};
    if (tool->by_query) {
        request.method = "GET";
        request.body = (pawl_str){NULL, 0};
        if (status == PAWL_OK)
            status = query_url(tool, call->arguments, arena, &request.url, err);
    }
    if (status == PAWL_OK)
        status = http_call(client, &request, arena, &response, err);
    answer->begun = status == PAWL_UNAVAILABLE && client != NULL && http_client_sent(client);
    if (status == PAWL_OK)
        status = judge_response(call, &response, answer, err);
    if (status == PAWL_OK)
        status = tools_output(arena, response.body, &answer->output, err);
    if (client != NULL)
        give_client(tools, client);
    buf_free(&body);
    return status;
}
