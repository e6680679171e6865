/* Passing spine events on to a broker. */
#include "work/pipeline/spine.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json/json.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "work/broker/publisher.h"

enum {
    EVENTS_MAX = 100,
    LOOK_MS = 500, /* between checks of an empty spine */
    STOP_MS = 2000
};

struct spine {
    struct duty duty;
    const struct spine_setting *setting;
    pawl_str service;
    struct publisher *publisher;
    struct arena *arena;
    struct load *load;
};

/* One batch: what was read, and its form for the broker. */
struct load {
    struct spine_events events;
    struct transport_message messages[EVENTS_MAX];
    struct transport_field fields[EVENTS_MAX][TRANSPORT_FIELDS_MAX];
    struct transport_result results[EVENTS_MAX];
};

static pawl_status payload_of(struct arena *arena, const struct spine_event *event, pawl_str *out,
                              pawl_error *err) {
    struct buf text;
    struct json_writer json;
    buf_init(&text, 0);
    json_writer_init(&json, &text);
    json_begin_object(&json);
    json_put_int(&json, "id", event->id);
    json_put_int(&json, "job", event->job_id);
    json_put_str(&json, "type", event->type);
    json_put_int(&json, "attempt", event->attempt);
    json_put_raw(&json, "output", event->payload);
    json_put_str(&json, "error", event->error);
    json_end_object(&json);
    return str_keep(arena, &text, "spine", out, err);
}

/* For brokers whose messages have no fields: the fields as one JSON object; the last of them is JSON itself.
 */
static pawl_status data_of(struct arena *arena, const struct transport_field *fields, size_t count,
                           pawl_str *out, pawl_error *err) {
    struct buf text;
    struct json_writer json;
    buf_init(&text, 0);
    json_writer_init(&json, &text);
    json_begin_object(&json);
    for (size_t i = 0; i < count; i++) {
        json_key(&json, fields[i].name);
        if (i + 1 < count)
            json_str(&json, fields[i].value);
        else
            json_raw(&json, fields[i].value);
    }
    json_end_object(&json);
    return str_keep(arena, &text, "spine", out, err);
}

static pawl_status message_of(struct spine *spine, const struct spine_event *event,
                              struct transport_field fields[static TRANSPORT_FIELDS_MAX],
                              struct transport_message *message, pawl_error *err) {
    struct arena *arena = spine->arena;
    char time[CLOCK_ISO_BYTES], worker[UUID_TEXT_BYTES] = "";
    if (!uuid_is_nil(event->instance))
        uuid_format(event->instance, worker);
    const char *texts[] = {
        arena_printf(arena, "%lld", (long long)event->job_id), arena_strdup(arena, worker),
        arena_strdup(arena, clock_format_iso(event->made_ms, time)),
        arena_printf(arena, "%.*s:spine:%lld", STR_ARG(spine->service), (long long)event->id),
        arena_printf(arena, "/pawl/%.*s", STR_ARG(spine->service))};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (texts[i] == NULL)
            return error_no_memory(err, "spine");
    }
    pawl_str payload, data;
    pawl_status status = payload_of(arena, event, &payload, err);
    if (status != PAWL_OK)
        return status;
    pawl_str task = str_absent(event->task) ? str_from(texts[0]) : event->task;
    size_t count = 0;
    fields[count++] = (struct transport_field){"task_id", task};
    fields[count++] = (struct transport_field){"worker_id", str_from(texts[1])};
    fields[count++] = (struct transport_field){"event_type", event->event_type};
    fields[count++] = (struct transport_field){"timestamp", str_from(texts[2])};
    fields[count++] = (struct transport_field){"payload", payload};
    status = data_of(arena, fields, count, &data, err);
    *message = (struct transport_message){.destination = spine->setting->to,
                                          .event = {.id = str_from(texts[3]),
                                                    .source = str_from(texts[4]),
                                                    .type = event->event_type,
                                                    .time = str_from(texts[2]),
                                                    .data_type = STR(EVENT_DATA_TYPE),
                                                    .stream = task,
                                                    .data = data},
                                          .fields = fields,
                                          .field_count = count,
                                          .max_length = spine->setting->max_length};
    return status;
}

/* Removes what the broker has confirmed, up to the first that it has not; the rest is sent again, in order.
 */
static pawl_status remove_confirmed(struct store *store, const struct load *load, size_t *confirmed,
                                    pawl_error *err) {
    int64_t ids[EVENTS_MAX], removed;
    size_t count = 0;
    while (count < load->events.count && load->results[count].fate == FATE_CONFIRMED) {
        ids[count] = load->events.events[count].id;
        count++;
    }
    *confirmed = count;
    return count > 0 ? store->ops->jobs->spine_remove(store, ids, count, &removed, err) : PAWL_OK;
}

/* Passes on the oldest events; *count = how many there were. */
static pawl_status pass_on(struct spine *spine, struct duty_turn *turn, size_t *count, pawl_error *err) {
    struct store *store = turn->store;
    struct load *load = spine->load;
    size_t confirmed = 0;
    arena_reset(spine->arena);
    pawl_status status = store->ops->jobs->spine_read(store, EVENTS_MAX, spine->arena, &load->events, err);
    if (status != PAWL_OK)
        return status;
    *count = load->events.count;
    for (size_t i = 0; i < load->events.count && status == PAWL_OK; i++)
        status = message_of(spine, &load->events.events[i], load->fields[i], &load->messages[i], err);
    if (status != PAWL_OK || load->events.count == 0)
        return status;
    publisher_publish(spine->publisher, load->messages, load->events.count, load->results);
    status = remove_confirmed(store, load, &confirmed, err);
    turn->elsewhere = status == PAWL_OK && confirmed < load->events.count;
    if (turn->elsewhere)
        status = error_set(err, PAWL_UNAVAILABLE, "spine", "%s", load->results[confirmed].error);
    return status;
}

static pawl_status turn(void *self, struct duty_turn *turn, pawl_error *err) {
    size_t count = 0;
    pawl_status status = pass_on(self, turn, &count, err);
    if (count > 0)
        turn->next_ms = 0;
    return status;
}

/* What the last jobs left, while the lease lasts; the broker's session ends with it. */
static void leave(void *self, struct duty_turn *turn) {
    struct spine *spine = self;
    pawl_error ignored;
    int64_t until_ms = clock_boot_ms() + STOP_MS;
    size_t count = turn->token != 0;
    while (count > 0 && clock_boot_ms() < until_ms) {
        count = 0;
        if (pass_on(spine, turn, &count, &ignored) != PAWL_OK)
            count = 0;
    }
    publisher_drop(spine->publisher);
}

pawl_status spine_create(const struct transport_settings *settings, pawl_str service, struct spine **out,
                         pawl_error *err) {
    struct spine *spine = calloc(1, sizeof(*spine));
    if (spine == NULL)
        return error_no_memory(err, "spine");
    *spine = (struct spine){
        .duty =
            {.rule = {.name = "spine", .period_ms = LOOK_MS, .lease_ms = DUTY_LEASE_MS, .to_the_end = true},
             .run = turn,
             .leave = leave,
             .self = spine},
        .setting = &settings->spine,
        .service = service,
        .publisher = publisher_create(&settings->transports[settings->spine.transport], NULL),
        .arena = arena_create(0),
        .load = calloc(1, sizeof(*spine->load))};
    if (spine->publisher == NULL || spine->arena == NULL || spine->load == NULL) {
        spine_free(spine);
        return error_no_memory(err, "spine");
    }
    *out = spine;
    return PAWL_OK;
}

const struct duty *spine_duty(const struct spine *spine) { return &spine->duty; }

void spine_free(struct spine *spine) {
    if (spine == NULL)
        return;
    publisher_free(spine->publisher);
    arena_free(spine->arena);
    free(spine->load);
    free(spine);
}
