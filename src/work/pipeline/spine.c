/* The thread that passes spine events on to a broker. */
#include "work/pipeline/spine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json/json.h"
#include "base/str.h"
#include "base/thread.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "work/broker/publisher.h"

enum {
    EVENTS_MAX = 100,
    LOOK_MS = 500,    /* between checks of an empty spine, or of a duty that another instance holds */
    REGISTER_MS = 20, /* between checks whether the worker has registered */
    STOP_MS = 2000
};

struct spine {
    struct duty_world world;
    const struct spine_setting *setting;
    struct publisher *publisher;
    pthread_t thread;
    atomic_bool stopping;
    /* only the thread touches these */
    struct store *store;
    struct duty duty;
    struct arena *arena;
    int64_t backoff_ms;
};

/* One batch: what was read, and its form for the broker. */
struct load {
    struct spine_events events;
    struct transport_message messages[EVENTS_MAX];
    struct transport_field fields[EVENTS_MAX][TRANSPORT_FIELDS_MAX];
    struct transport_result results[EVENTS_MAX];
};

static void fall_back(struct spine *spine, const char *reason) {
    log_event(&spine->world.log, LOG_LEVEL_WARN, "spine_not_passed_on", "transport=%s to=%.*s reason=%s",
              spine->world.settings->transports[spine->setting->transport].name, STR_ARG(spine->setting->to),
              reason);
    duty_back_off(&spine->stopping, &spine->backoff_ms);
}

/* Writes JSON into the arena. */
static pawl_status keep(struct arena *arena, struct buf *text, pawl_str *out, pawl_error *err) {
    pawl_status status = buf_status(text, "spine", err);
    if (status == PAWL_OK)
        status = str_dup(arena, buf_str(text), out, err);
    buf_free(text);
    return status;
}

static pawl_status payload_of(struct arena *arena, const struct spine_event *event, pawl_str *out,
                              pawl_error *err) {
    struct buf text;
    struct json_writer json;
    buf_init(&text, 0);
    json_writer_init(&json, &text);
    json_begin_object(&json);
    json_key(&json, "id");
    json_int(&json, event->id);
    json_key(&json, "job");
    json_int(&json, event->job_id);
    json_key(&json, "type");
    json_str(&json, event->type);
    json_key(&json, "attempt");
    json_int(&json, event->attempt);
    json_key(&json, "output");
    json_raw(&json, event->payload);
    json_key(&json, "error");
    json_str(&json, event->error);
    json_end_object(&json);
    return keep(arena, &text, out, err);
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
    return keep(arena, &text, out, err);
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
        arena_printf(arena, "%.*s:spine:%lld", STR_ARG(spine->world.service), (long long)event->id),
        arena_printf(arena, "/pawl/%.*s", STR_ARG(spine->world.service))};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (texts[i] == NULL)
            return error_set(err, PAWL_NO_MEMORY, "spine", "out of memory");
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
static pawl_status remove_confirmed(struct spine *spine, const struct load *load, size_t *confirmed,
                                    pawl_error *err) {
    int64_t ids[EVENTS_MAX], removed;
    size_t count = 0;
    while (count < load->events.count && load->results[count].fate == FATE_CONFIRMED) {
        ids[count] = load->events.events[count].id;
        count++;
    }
    *confirmed = count;
    return count > 0 ? spine->store->ops->jobs->spine_remove(spine->store, ids, count, &removed, err)
                     : PAWL_OK;
}

/* Passes on the oldest events; *count = how many there were. */
static pawl_status pass_on(struct spine *spine, struct load *load, size_t *count, pawl_error *err) {
    size_t confirmed = 0;
    arena_reset(spine->arena);
    pawl_status status =
        spine->store->ops->jobs->spine_read(spine->store, EVENTS_MAX, spine->arena, &load->events, err);
    if (status != PAWL_OK) {
        store_close(spine->store);
        spine->store = NULL;
        return status;
    }
    *count = load->events.count;
    for (size_t i = 0; i < load->events.count && status == PAWL_OK; i++)
        status = message_of(spine, &load->events.events[i], load->fields[i], &load->messages[i], err);
    if (status != PAWL_OK || load->events.count == 0)
        return status;
    publisher_publish(spine->publisher, load->messages, load->events.count, load->results);
    status = remove_confirmed(spine, load, &confirmed, err);
    if (status == PAWL_OK && confirmed < load->events.count)
        status = error_set(err, PAWL_UNAVAILABLE, "spine", "%s", load->results[confirmed].error);
    return status;
}

/* One turn; false when nothing more can be done now. */
static bool turn(struct spine *spine, struct load *load) {
    pawl_error error = {0};
    size_t count = 0;
    if (spine->store == NULL && store_open(&spine->world.store, &spine->store, &error) != PAWL_OK) {
        fall_back(spine, error.text);
        return false;
    }
    pawl_uuid instance = spine->world.instance(spine->world.self);
    while (uuid_is_nil(instance) && !atomic_load(&spine->stopping)) { /* it is about to register */
        duty_wait(&spine->stopping, REGISTER_MS);
        instance = spine->world.instance(spine->world.self);
    }
    /* A stopping worker is no longer registered, but keeps the duty until its lease ends. */
    bool held = atomic_load(&spine->stopping) ? spine->duty.grant.held
                                              : duty_hold(&spine->duty, spine->store, instance);
    if (!held)
        return false;
    if (pass_on(spine, load, &count, &error) != PAWL_OK) {
        fall_back(spine, error.text);
        return false;
    }
    spine->backoff_ms = DUTY_BACKOFF_MS;
    return count > 0;
}

static void *run(void *self) {
    struct spine *spine = self;
    struct load *load = calloc(1, sizeof(*load));
    spine->arena = arena_create(0);
    bool able = load != NULL && spine->arena != NULL;
    while (able && !atomic_load(&spine->stopping)) {
        if (!turn(spine, load))
            duty_wait(&spine->stopping, LOOK_MS);
    }
    int64_t until_ms = clock_boot_ms() + STOP_MS;
    while (able && clock_boot_ms() < until_ms && turn(spine, load))
        ;
    if (spine->store != NULL)
        duty_leave(&spine->duty, spine->store);
    store_close(spine->store);
    arena_free(spine->arena);
    free(load);
    return NULL;
}

static void spine_free(struct spine *spine) {
    publisher_free(spine->publisher);
    free(spine);
}

pawl_status spine_start(const struct duty_world *world, struct spine **out, pawl_error *err) {
    const struct spine_setting *setting = &world->settings->spine;
    *out = NULL;
    if (str_absent(setting->to))
        return PAWL_OK;
    struct spine *spine = calloc(1, sizeof(*spine));
    if (spine == NULL)
        return error_set(err, PAWL_NO_MEMORY, "spine", "out of memory");
    spine->world = *world;
    spine->setting = setting;
    spine->backoff_ms = DUTY_BACKOFF_MS;
    snprintf(spine->duty.name, sizeof(spine->duty.name), "spine");
    spine->publisher = publisher_create(&world->settings->transports[setting->transport], NULL);
    pawl_status status = spine->publisher != NULL ? PAWL_OK
                                                  : error_set(err, PAWL_NO_MEMORY, "spine", "out of memory");
    if (status == PAWL_OK) {
        int code = thread_start(&spine->thread, run, spine);
        if (code != 0)
            status = error_errno(err, PAWL_NO_MEMORY, "spine", code, "no thread for the spine");
    }
    if (status != PAWL_OK) {
        spine_free(spine);
        return status;
    }
    *out = spine;
    return PAWL_OK;
}

void spine_stop(struct spine *spine) {
    if (spine == NULL)
        return;
    atomic_store(&spine->stopping, true);
    pthread_join(spine->thread, NULL);
    spine_free(spine);
}
