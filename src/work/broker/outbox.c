/* Publishing claimed outbox messages: routes, rates, and the order of streams. */
#include "work/broker/outbox.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "domain/trace.h"
#include "work/broker/publisher.h"
#include "work/observe.h"

enum {
    UNAVAILABLE_WAIT_MS = 200,
    SOURCE_BYTES = PAWL_NAME_BYTES_MAX + 16,
    SEQ_BYTES = 24,
    DESTINATION_BYTES = 2 * PAWL_TOPIC_BYTES_MAX
};

/* One route: where messages of a topic go, and how many of them per second. */
struct route {
    const struct route_setting *setting;
    struct publisher *publisher;
    pawl_str source;
    pthread_mutex_t lock;
    double tokens; /* of the rate limit: grows by rate per second, at most one second's worth */
    int64_t filled_us;
};

struct outbox {
    struct publisher *publishers[SETTINGS_TRANSPORTS_MAX];
    size_t publisher_count;
    struct route *routes;
    size_t route_count;
    char source[SOURCE_BYTES];
};

/* The texts of one event that are not the message's own. */
struct texts {
    char id[UUID_TEXT_BYTES], correlation[UUID_TEXT_BYTES], causation[UUID_TEXT_BYTES];
    char time[CLOCK_ISO_BYTES], seq[SEQ_BYTES];
};

/* The messages to publish together: the next one of every stream, or all of them if the transport keeps
 * order. Everything is in the arena, for as many as the batch has. */
struct wave {
    struct arena *arena;
    struct transport_message *messages;
    struct transport_result *results;
    struct texts *texts;
    struct observed *observed;
    size_t *at; /* which message of the batch */
    size_t count;
};

static bool wave_open(struct wave *wave, size_t count) {
    struct arena *arena = arena_create(0);
    *wave = (struct wave){.arena = arena};
    if (arena == NULL)
        return false;
    wave->messages = arena_array(arena, count, sizeof(*wave->messages));
    wave->results = arena_array(arena, count, sizeof(*wave->results));
    wave->texts = arena_array(arena, count, sizeof(*wave->texts));
    wave->observed = arena_array(arena, count, sizeof(*wave->observed));
    wave->at = arena_array(arena, count, sizeof(*wave->at));
    return wave->messages != NULL && wave->results != NULL && wave->texts != NULL && wave->observed != NULL &&
           wave->at != NULL;
}

/* {topic}, {type} and {stream} are replaced. Returns the length; 0: the result is too long, or a part of it
 * is missing. */
static size_t fill_destination(pawl_str form, const struct item *item, char out[static DESTINATION_BYTES]) {
    const struct {
        pawl_str name, value;
    } parts[] = {{STR("{topic}"), str_absent(item->topic) ? item->type : item->topic},
                 {STR("{type}"), item->type},
                 {STR("{stream}"), item->stream}};
    size_t len = 0;
    for (size_t at = 0; at < form.len;) {
        pawl_str piece = {form.ptr + at, 1};
        size_t used = 1;
        for (size_t i = 0; form.ptr[at] == '{' && i < sizeof(parts) / sizeof(*parts); i++) {
            pawl_str name = parts[i].name;
            if (form.len - at >= name.len && memcmp(form.ptr + at, name.ptr, name.len) == 0) {
                piece = parts[i].value;
                used = name.len;
            }
        }
        if (piece.len == 0 || len + piece.len > DESTINATION_BYTES)
            return 0;
        memcpy(out + len, piece.ptr, piece.len);
        len += piece.len;
        at += used;
    }
    return len;
}

static pawl_str uuid_text(pawl_uuid id, char text[static UUID_TEXT_BYTES]) {
    return uuid_is_nil(id) ? (pawl_str){NULL, 0} : str_from(uuid_format(id, text));
}

static pawl_str trace_state(struct arena *arena, const struct item *item) {
    char text[TRACESTATE_BYTES];
    pawl_str state = trace_state_read(item->traceparent, item->headers, text);
    return (pawl_str){str_absent(state) ? NULL : arena_copy(arena, state.ptr, state.len), state.len};
}

static struct event make_event(const struct route *route, const struct item *item, struct arena *arena,
                               struct texts *texts) {
    snprintf(texts->seq, sizeof(texts->seq), "%lld", (long long)item->seq);
    return (struct event){.id = str_from(uuid_format(item->id, texts->id)),
                          .source = route->source,
                          .type = item->type,
                          .time = str_from(clock_format_iso(item->put_ms, texts->time)),
                          .data_type = STR(EVENT_DATA_TYPE),
                          .stream = item->stream,
                          .sequence = str_from(texts->seq),
                          .correlation_id = uuid_text(item->correlation_id, texts->correlation),
                          .causation_id = uuid_text(item->causation_id, texts->causation),
                          .traceparent = item->traceparent,
                          .tracestate = trace_state(arena, item),
                          .headers = item->headers,
                          .data = item->payload};
}

static void say(struct handler_verdict *verdict, enum handler_outcome outcome, int64_t delay_ms,
                const char *error) {
    verdict->outcome = outcome;
    verdict->delay_ms = delay_ms;
    snprintf(verdict->error, sizeof(verdict->error), "%s", error);
}

static const enum handler_outcome outcomes[] = {[FATE_CONFIRMED] = HANDLED_DONE,
                                                [FATE_REFUSED] = HANDLED_RETRY,
                                                [FATE_REJECTED] = HANDLED_PERMANENT,
                                                [FATE_UNAVAILABLE] = HANDLED_SNOOZE};

/* If the broker is unavailable, the message is not at fault: it waits, and no attempt is counted. */
static void judge(struct route *route, const struct transport_result *result,
                  struct handler_verdict *verdict) {
    enum handler_outcome outcome = outcomes[result->fate];
    int64_t rest_ms = outcome == HANDLED_SNOOZE ? publisher_rest_ms(route->publisher) : -1;
    if (outcome == HANDLED_DONE)
        say(verdict, outcome, 0, "");
    else if (outcome == HANDLED_SNOOZE && rest_ms < UNAVAILABLE_WAIT_MS)
        say(verdict, outcome, UNAVAILABLE_WAIT_MS, result->error);
    else
        say(verdict, outcome, rest_ms, result->error);
}

/* How many of count the route's rate allows now; *wait_ms = when it allows more. */
static size_t rate_take(struct route *route, size_t count, int64_t *wait_ms) {
    double rate = route->setting->rate;
    if (rate <= 0)
        return count;
    pthread_mutex_lock(&route->lock);
    int64_t now_us = clock_boot_us();
    route->tokens += (double)(now_us - route->filled_us) * rate / 1e6;
    if (route->tokens > rate)
        route->tokens = rate;
    route->filled_us = now_us;
    size_t granted = route->tokens < 1 ? 0 : (size_t)route->tokens < count ? (size_t)route->tokens : count;
    route->tokens -= (double)granted;
    *wait_ms = 1 + (int64_t)((double)(count - granted) * 1000 / rate);
    pthread_mutex_unlock(&route->lock);
    return granted;
}

static bool group_open(const struct handler_batch *batch, size_t i) {
    return i == 0 || batch->groups[i - 1] != batch->groups[i] ||
           batch->verdicts[i - 1].outcome == HANDLED_DONE;
}

static void wave_add(struct route *route, struct wave *wave, size_t i, const struct handler_batch *batch) {
    const struct item *item = batch->items[i];
    char text[DESTINATION_BYTES];
    size_t len = fill_destination(route->setting->to, item, text);
    const char *destination = len > 0 ? arena_copy(wave->arena, text, len) : NULL;
    if (len == 0) {
        say(&batch->verdicts[i], HANDLED_PERMANENT, -1,
            "the destination is too long, or the message has no stream to put into it");
        return;
    }
    if (destination == NULL) {
        say(&batch->verdicts[i], HANDLED_SNOOZE, UNAVAILABLE_WAIT_MS, "");
        return;
    }
    wave->messages[wave->count] =
        (struct transport_message){.destination = {destination, len},
                                   .event = make_event(route, item, wave->arena, &wave->texts[wave->count])};
    wave->at[wave->count++] = i;
}

static void wave_fill(struct route *route, const struct handler_batch *batch, struct wave *wave) {
    bool all = publisher_keeps_order(route->publisher);
    size_t bytes = 0;
    wave->count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        bool follows = i > 0 && wave->count > 0 && wave->at[wave->count - 1] == i - 1 &&
                       batch->groups[i - 1] == batch->groups[i];
        if (batch->verdicts[i].outcome != HANDLED_NOT_RUN || (!group_open(batch, i) && !(all && follows)) ||
            (follows && !all))
            continue;
        wave_add(route, wave, i, batch);
        bytes += batch->items[i]->payload.len + batch->items[i]->headers.len;
        if (bytes >= PAWL_PUBLISH_BYTES_MAX)
            return; /* the next wave goes on from here */
    }
}

static void published(const struct route *route, const struct handler_batch *batch, struct wave *wave,
                      size_t at) {
    const struct transport_result *result = &wave->results[at];
    struct observed_end end = {.result = observe_outcome(outcomes[result->fate]),
                               .error = str_from(result->error),
                               .system = publisher_system(route->publisher),
                               .destination = wave->messages[at].destination};
    observe_message_end(batch->observer, &wave->observed[at], &end);
}

static void wave_publish(struct route *route, const struct handler_batch *batch, struct wave *wave) {
    int64_t wait_ms = 0;
    size_t granted = rate_take(route, wave->count, &wait_ms);
    for (size_t i = 0; i < granted; i++)
        wave->messages[i].event.traceparent =
            observe_message(batch->observer, batch->items[wave->at[i]], &wave->observed[i])->traceparent;
    if (granted > 0)
        publisher_publish(route->publisher, wave->messages, granted, wave->results);
    for (size_t i = 0; i < granted; i++)
        published(route, batch, wave, i);
    for (size_t i = 0; i < wave->count; i++) {
        size_t at = wave->at[i];
        bool behind = i > 0 && wave->at[i - 1] == at - 1 && batch->groups[at - 1] == batch->groups[at] &&
                      batch->verdicts[at - 1].outcome != HANDLED_DONE;
        if (behind)
            continue; /* its stream waits for the previous message */
        if (i < granted)
            judge(route, &wave->results[i], &batch->verdicts[at]);
        else
            say(&batch->verdicts[at], HANDLED_SNOOZE, wait_ms, "");
    }
}

static void publish(const struct handler_batch *batch, void *self) {
    struct route *route = self;
    struct wave wave = {.arena = NULL};
    int64_t rest_ms = publisher_rest_ms(route->publisher);
    bool open = rest_ms == 0 && wave_open(&wave, batch->count);
    while (open && !atomic_load(batch->cancel) && clock_boot_ms() < batch->fence_ms) {
        wave_fill(route, batch, &wave);
        if (wave.count == 0)
            break;
        wave_publish(route, batch, &wave);
    }
    for (size_t i = 0; i < batch->count && !open; i++) {
        if (group_open(batch, i))
            say(&batch->verdicts[i], HANDLED_SNOOZE, rest_ms > 0 ? rest_ms : UNAVAILABLE_WAIT_MS, "");
    }
    arena_free(wave.arena);
}

static pawl_status add_routes(struct outbox *outbox, struct transport_settings *settings,
                              struct handler_table *table, pawl_error *err) {
    for (size_t i = 0; i < settings->route_count; i++) {
        struct route *route = &outbox->routes[i];
        const struct route_setting *setting = &settings->routes[i];
        *route = (struct route){.setting = setting,
                                .publisher = outbox->publishers[setting->transport],
                                .source = str_from(outbox->source),
                                .tokens = setting->rate > 0 ? 1 : 0,
                                .filled_us = clock_boot_us()};
        pthread_mutex_init(&route->lock, NULL);
        outbox->route_count++;
        pawl_status status =
            handler_table_add_route(table, setting->pattern, publish, route, &setting->rules, err);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

pawl_status outbox_create(struct transport_settings *settings, pawl_str service, const struct log *log,
                          struct handler_table *table, struct outbox **out, pawl_error *err) {
    struct outbox *outbox = calloc(1, sizeof(*outbox));
    if (outbox != NULL)
        outbox->routes = calloc(settings->route_count + 1, sizeof(*outbox->routes));
    bool made = outbox != NULL && outbox->routes != NULL;
    for (size_t i = 0; made && i < settings->transport_count; i++) {
        outbox->publishers[i] = publisher_create(&settings->transports[i], log);
        made = outbox->publishers[i] != NULL;
        outbox->publisher_count += made;
    }
    if (!made) {
        outbox_free(outbox);
        return error_no_memory(err, "outbox");
    }
    snprintf(outbox->source, sizeof(outbox->source), "/pawl/%.*s", STR_ARG(service));
    pawl_status status = add_routes(outbox, settings, table, err);
    if (status != PAWL_OK) {
        outbox_free(outbox);
        return status;
    }
    *out = outbox;
    return PAWL_OK;
}

void outbox_free(struct outbox *outbox) {
    if (outbox == NULL)
        return;
    for (size_t i = 0; i < outbox->publisher_count; i++)
        publisher_free(outbox->publishers[i]);
    for (size_t i = 0; i < outbox->route_count; i++)
        pthread_mutex_destroy(&outbox->routes[i].lock);
    free(outbox->routes);
    free(outbox);
}
