/* Calling one handler for one message and waiting for it: a function, a program or an endpoint. */
#include "work/receptors/call.h"

#include <stdio.h>
#include <string.h>

#include "base/json/tree.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "domain/trace.h"
#include "handler/message.h"
#include "handler/program_run.h"
#include "handler/webhook.h"

enum { ANSWER_BYTES_MAX = 65536, ANSWER_TOLD = 300, OWN_HEADERS = 6, TOKEN_BYTES = 24 };

struct event_origin event_origin(const struct item *item, struct arena *arena) {
    /* Metadata comes from the user; it is last and is not read. */
    static const char metadata[] = ",\"metadata\":";
    struct event_origin origin = {.version = 0};
    const struct tree *headers = NULL;
    pawl_error ignored;
    pawl_str text = item->headers;
    if (str_absent(text))
        return origin;
    const char *cut = memmem(text.ptr, text.len, metadata, sizeof(metadata) - 1);
    if (cut != NULL)
        text = str_from(arena_printf(arena, "%.*s}", (int)(cut - text.ptr), text.ptr));
    if (str_absent(text) || tree_parse(arena, text, NULL, &headers, &ignored) != PAWL_OK)
        return origin;
    const struct tree *stream = tree_get_cstr(headers, "stream"),
                      *version = tree_get_cstr(headers, "version");
    if (stream != NULL && stream->kind == TREE_STRING)
        origin.stream = stream->text;
    if (version == NULL || version->kind != TREE_NUMBER || !tree_to_i64(version, &origin.version))
        origin.version = 0;
    return origin;
}

static void say(struct handler_verdict *verdict, enum handler_outcome outcome, int64_t delay_ms) {
    verdict->outcome = outcome;
    verdict->delay_ms = delay_ms;
}

/* Turns untrusted output into text that every store accepts. */
static void tell(struct handler_verdict *verdict, const char *what, pawl_str words) {
    size_t room = sizeof(verdict->error);
    int at = snprintf(verdict->error, room, "%s%s", what, words.len > 0 ? ": " : "");
    for (size_t i = 0; i < words.len && at >= 0 && (size_t)at + 1 < room; i++) {
        char c = words.ptr[i];
        verdict->error[at++] = c == '\n' || c == '\t' ? ' ' : c < ' ' || c == 0x7f ? '?' : c;
        verdict->error[at] = '\0';
    }
}

/* The event's version in its stream: receptors get events in no particular order. */
static const char *version_text(const struct item *item, struct arena *arena) {
    return arena_printf(arena, "%lld", (long long)event_origin(item, arena).version);
}

static void call_program(struct receptor_world *world, const struct receptor_call *call, struct arena *arena,
                         struct handler_verdict *verdict) {
    struct message_call program = {.handler = call->handler,
                                   .launcher = world->launcher,
                                   .item = call->item,
                                   .receptor = call->name,
                                   .limits = {call->deadline_ms, call->cancel}};
    if (call->handler->event)
        program.version = version_text(call->item, arena);
    program_message(&program, verdict);
}

static struct http_client *client_take(struct receptor_world *world) {
    pthread_mutex_lock(&world->lock);
    struct http_client *client = world->client_count > 0 ? world->clients[--world->client_count] : NULL;
    pthread_mutex_unlock(&world->lock);
    return client;
}

static void client_give(struct receptor_world *world, struct http_client *client) {
    pthread_mutex_lock(&world->lock);
    if (client != NULL && world->client_count < RECEPTOR_CLIENTS_MAX) {
        world->clients[world->client_count++] = client;
        client = NULL;
    }
    pthread_mutex_unlock(&world->lock);
    http_client_free(client);
}

static void judge_answer(const struct http_response *response, struct handler_verdict *verdict) {
    char what[64];
    enum http_verdict meant = http_judge(response->status);
    if (meant == HTTP_DONE) {
        say(verdict, HANDLED_DONE, 0);
        return;
    }
    say(verdict, meant == HTTP_RETRY ? HANDLED_RETRY : HANDLED_PERMANENT, response->retry_after_ms);
    snprintf(what, sizeof(what), "the endpoint answered with HTTP status %d", response->status);
    pawl_str words = response->body;
    if (words.len > ANSWER_TOLD)
        words.len = ANSWER_TOLD;
    tell(verdict, what, str_trim(words));
}

static void add_uuid(struct http_header *headers, size_t *count, const char *name, pawl_uuid id,
                     struct arena *arena) {
    char text[UUID_TEXT_BYTES];
    if (!uuid_is_nil(id))
        headers[(*count)++] =
            (struct http_header){name, str_from(arena_strdup(arena, uuid_format(id, text)))};
}

static void call_endpoint(struct receptor_world *world, const struct receptor_call *call, struct arena *arena,
                          struct handler_verdict *verdict) {
    const struct item *item = call->item;
    char id[UUID_TEXT_BYTES], key[WORK_KEY_BYTES], state[TRACESTATE_BYTES], token[TOKEN_BYTES];
    struct http_header headers[WEBHOOK_HEADERS_MAX + OWN_HEADERS];
    size_t count = 0;
    pawl_error err = {0};
    struct webhook_event event = {.id = str_from(uuid_format(item->id, id)),
                                  .source = str_from(world->source),
                                  .type = item->type,
                                  .subject = item->stream,
                                  .traceparent = item->traceparent,
                                  .time_ms = item->put_ms,
                                  .body = item->payload};
    struct http_client *client = client_take(world);
    pawl_status status = client == NULL ? http_client_create(&client, &err) : PAWL_OK;
    if (status == PAWL_OK)
        status = webhook_headers(&event, call->handler->secret, clock_wall_ms() / 1000, arena, headers,
                                 &count, &err);
    headers[count++] = (struct http_header){"Idempotency-Key", str_from(work_idempotency_key(item, key))};
    snprintf(token, sizeof(token), "%lld", (long long)item->token);
    headers[count++] = (struct http_header){"Pawl-Token", str_from(token)};
    add_uuid(headers, &count, "ce-correlationid", item->correlation_id, arena);
    add_uuid(headers, &count, "ce-causationid", item->causation_id, arena);
    pawl_str vendors = trace_state_read(item->traceparent, item->headers, state);
    if (!str_absent(vendors))
        headers[count++] = (struct http_header){"tracestate", vendors};
    if (call->handler->event)
        headers[count++] = (struct http_header){"ce-sequence", str_from(version_text(item, arena))};
    struct http_request request = {.url = call->handler->url,
                                   .headers = headers,
                                   .header_count = count,
                                   .body = item->payload,
                                   .deadline_ms = call->deadline_ms,
                                   .body_bytes_max = ANSWER_BYTES_MAX,
                                   .allow_private = call->handler->allow_private,
                                   .cancel = call->cancel};
    struct http_response response = {.retry_after_ms = -1};
    if (status == PAWL_OK)
        status = http_call(client, &request, arena, &response, &err);
    if (status == PAWL_OK)
        judge_answer(&response, verdict);
    else if (status == PAWL_STALE)
        say(verdict, HANDLED_NOT_RUN, -1);
    else
        tell(verdict, err.text, (pawl_str){NULL, 0});
    client_give(world, client);
}

void receptor_call(struct receptor_world *world, const struct receptor_call *call,
                   struct handler_verdict *verdict) {
    if (call->handler->kind == HANDLER_FUNCTION) {
        function_call(call->handler, call->item, call->run, verdict);
        return;
    }
    struct arena *arena = arena_create(0);
    say(verdict, HANDLED_RETRY, -1);
    if (arena == NULL)
        tell(verdict, "out of memory", (pawl_str){NULL, 0});
    else if (call->handler->kind == HANDLER_PROCESS)
        call_program(world, call, arena, verdict);
    else
        call_endpoint(world, call, arena, verdict);
    arena_free(arena);
}
