/* Redis Streams: one entry per message, its CloudEvent as JSON in the field "event". */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json/json.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "transport/transport.h"
#include "transport/wire.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define LIBRARY "hiredis " TEXT(HIREDIS_MAJOR) "." TEXT(HIREDIS_MINOR) "." TEXT(HIREDIS_PATCH)

enum { READ_BYTES = 65536, ENTRY_ID_BYTES = 48, WORDS_MAX = 16 + TRANSPORT_RECEIVE_MAX };

struct transport {
    TRANSPORT_SESSION
    struct wire *wire;
    redisReader *replies;
    struct buf out;
    struct buf json;
    char max_length[24];                /* "" = streams are not trimmed */
    char pending_after[ENTRY_ID_BYTES]; /* "" = everything delivered to this group earlier has been read again
                                         */
    char (*ids)[ENTRY_ID_BYTES];        /* of the last receive; the tag is the index */
    size_t id_count;
};

/* "*3" or "$12" and the end of the line. */
static void append_length(struct buf *out, char what, size_t length) {
    char line[32];
    char *at = line + sizeof(line);
    *--at = '\n';
    *--at = '\r';
    do
        *--at = (char)('0' + length % 10);
    while ((length /= 10) > 0);
    *--at = what;
    buf_append(out, at, (size_t)(line + sizeof(line) - at));
}

/* Appends one command to what will be sent: an array of strings. */
static pawl_status command(struct transport *session, int count, const pawl_str *words, pawl_error *err) {
    struct buf *out = &session->out;
    append_length(out, '*', (size_t)count);
    for (int i = 0; i < count; i++) {
        append_length(out, '$', words[i].len);
        buf_append(out, words[i].ptr != NULL ? words[i].ptr : "", words[i].len);
        buf_append(out, "\r\n", 2);
    }
    return buf_status(out, "redis", err);
}

static pawl_status flush(struct transport *session, int64_t until_ms, pawl_error *err) {
    pawl_status status = wire_write(session->wire, session->out.ptr, session->out.len, until_ms, err);
    buf_reset(&session->out);
    return status;
}

/* The next reply; freed by the caller with freeReplyObject. */
static pawl_status reply_next(struct transport *session, int64_t until_ms, redisReply **reply,
                              pawl_error *err) {
    void *found = NULL;
    char bytes[READ_BYTES];
    while (true) {
        if (redisReaderGetReply(session->replies, &found) != REDIS_OK)
            return error_set(err, PAWL_UNAVAILABLE, "redis", "the server does not speak the Redis protocol");
        if (found != NULL)
            break;
        size_t got = 0;
        pawl_status status = wire_read(session->wire, bytes, sizeof(bytes), until_ms, &got, err);
        if (status != PAWL_OK)
            return status;
        if (redisReaderFeed(session->replies, bytes, got) != REDIS_OK)
            return error_no_memory(err, "redis");
    }
    *reply = found;
    return PAWL_OK;
}

static bool error_is(const redisReply *reply, const char *word) {
    return strncmp(reply->str, word, strlen(word)) == 0;
}

/* The meaning of a server error for a call that is not about one message. */
static pawl_status call_status(const redisReply *reply, pawl_error *err) {
    if (reply->type != REDIS_REPLY_ERROR)
        return PAWL_OK;
    bool rights = error_is(reply, "WRONGPASS") || error_is(reply, "NOAUTH") || error_is(reply, "NOPERM") ||
                  error_is(reply, "ERR invalid password") || error_is(reply, "ERR AUTH") ||
                  error_is(reply, "ERR Client sent AUTH");
    bool wrong = rights || error_is(reply, "WRONGTYPE") || error_is(reply, "ERR DB index") ||
                 error_is(reply, "ERR invalid DB");
    return error_set(err, wrong ? PAWL_INVALID : PAWL_UNAVAILABLE, "redis", "the server says: %s",
                     reply->str);
}

static pawl_status ask(struct transport *session, int count, const pawl_str *words, redisReply **reply,
                       pawl_error *err) {
    int64_t until_ms = clock_boot_ms() + session->confirm_ms;
    redisReply *found = NULL;
    pawl_status status = command(session, count, words, err);
    if (status == PAWL_OK)
        status = flush(session, until_ms, err);
    if (status == PAWL_OK)
        status = reply_next(session, until_ms, &found, err);
    if (status != PAWL_OK)
        return transport_late(status, "redis", "no answer in time", err);
    status = call_status(found, err);
    if (status != PAWL_OK || reply == NULL)
        freeReplyObject(found);
    else
        *reply = found;
    return status;
}

static pawl_status greet(struct transport *session, pawl_error *err) {
    const struct address *address = &session->address;
    pawl_str user = str_from(address->user), password = str_from(address->password);
    pawl_status status = PAWL_OK;
    if (password.ptr != NULL && user.ptr != NULL)
        status = ask(session, 3, (pawl_str[]){STR("AUTH"), user, password}, NULL, err);
    else if (password.ptr != NULL)
        status = ask(session, 2, (pawl_str[]){STR("AUTH"), password}, NULL, err);
    if (status == PAWL_OK && address->path != NULL)
        status = ask(session, 2, (pawl_str[]){STR("select"), str_from(address->path)}, NULL, err);
    /* Reports a missing password at once instead of with the first message. */
    return status == PAWL_OK ? ask(session, 1, (pawl_str[]){STR("PING")}, NULL, err) : status;
}

static void redis_close(struct transport *session) {
    wire_close(session->wire);
    if (session->replies != NULL)
        redisReaderFree(session->replies);
    buf_free(&session->out);
    buf_free(&session->json);
    free(session->ids);
}

static pawl_status redis_open(struct transport *session, const struct transport_config *config,
                              pawl_error *err) {
    const char *max_length = transport_option(config, "max-length");
    snprintf(session->max_length, sizeof(session->max_length), "%s", max_length != NULL ? max_length : "");
    buf_init(&session->out, 0);
    buf_init(&session->json, 0);
    session->replies = redisReaderCreate();
    if (session->replies == NULL)
        return error_no_memory(err, "redis");
    pawl_status status = wire_open(config, &session->address, &session->wire, err);
    return status == PAWL_OK ? greet(session, err) : status;
}

static pawl_status add_entry(struct transport *session, const struct transport_message *message,
                             pawl_error *err) {
    pawl_str words[6 + 2 * TRANSPORT_FIELDS_MAX];
    char max_length[24];
    int count = 0;
    snprintf(max_length, sizeof(max_length), "%s", session->max_length);
    if (message->max_length > 0)
        snprintf(max_length, sizeof(max_length), "%lld", (long long)message->max_length);
    words[count++] = STR("XADD");
    words[count++] = message->destination;
    if (max_length[0] != '\0') {
        words[count++] = STR("MAXLEN");
        words[count++] = STR("~");
        words[count++] = str_from(max_length);
    }
    words[count++] = STR("*");
    for (size_t i = 0; i < message->field_count && i < TRANSPORT_FIELDS_MAX; i++) {
        words[count++] = str_from(message->fields[i].name);
        words[count++] = message->fields[i].value;
    }
    if (message->field_count > 0)
        return command(session, count, words, err);
    buf_reset(&session->json);
    event_json(&session->json, &message->event);
    pawl_status status = buf_status(&session->json, "redis", err);
    if (status != PAWL_OK)
        return status;
    words[count++] = STR("id");
    words[count++] = message->event.id;
    words[count++] = STR("event");
    words[count++] = buf_str(&session->json);
    return command(session, count, words, err);
}

static void judge(const redisReply *reply, struct transport_result *result) {
    if (reply->type != REDIS_REPLY_ERROR) {
        transport_result_confirm(result);
        return;
    }
    static const char *const hopeless[] = {"WRONGTYPE", "NOPERM", "ERR"};
    enum transport_fate fate = FATE_UNAVAILABLE;
    for (size_t i = 0; i < sizeof(hopeless) / sizeof(*hopeless); i++)
        fate = error_is(reply, hopeless[i]) ? FATE_REJECTED : fate;
    transport_result_set(result, fate, "the server says: %.200s", reply->str);
}

static pawl_status redis_publish(struct transport *session, const struct transport_message *messages,
                                 size_t count, struct transport_result *results, pawl_error *err) {
    transport_results_unknown(results, count, "the broker did not answer");
    buf_reset(&session->out);
    int64_t until_ms = clock_boot_ms() + session->confirm_ms;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = add_entry(session, &messages[i], err);
    if (status == PAWL_OK)
        status = flush(session, until_ms, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        redisReply *reply = NULL;
        status = reply_next(session, until_ms, &reply, err);
        if (status == PAWL_OK)
            judge(reply, &results[i]);
        freeReplyObject(reply);
    }
    return transport_late(status, "redis", "no answer in time", err);
}

static pawl_status redis_subscribe(struct transport *session, pawl_error *err) {
    session->ids = calloc(TRANSPORT_RECEIVE_MAX, sizeof(*session->ids));
    if (session->ids == NULL)
        return error_no_memory(err, "redis");
    snprintf(session->pending_after, sizeof(session->pending_after), "0");
    pawl_str words[] = {STR("XGROUP"),  STR("create"), session->from,
                        session->group, STR("0"),      STR("MKSTREAM")};
    pawl_error inner;
    pawl_status status = ask(session, 6, words, NULL, &inner);
    if (status != PAWL_OK && strstr(inner.text, "BUSYGROUP") == NULL) {
        *err = inner;
        return status;
    }
    return PAWL_OK;
}

/* An entry that cannot be parsed is kept as JSON text of its fields. */
static pawl_status take_strange(struct arena *arena, const redisReply *fields, const char *reason,
                                struct transport_delivery *delivery, pawl_error *err) {
    struct buf buf;
    struct json_writer json;
    buf_init(&buf, 0);
    json_writer_init(&json, &buf);
    json_begin_array(&json);
    for (size_t i = 0; i < fields->elements; i++)
        json_str(&json, (pawl_str){fields->element[i]->str, fields->element[i]->len});
    json_end_array(&json);
    delivery->malformed = true;
    snprintf(delivery->reason, sizeof(delivery->reason), "%.200s", reason);
    return str_keep(arena, &buf, "redis", &delivery->raw, err);
}

static pawl_status take_fields(struct arena *arena, const redisReply *fields,
                               struct transport_delivery *delivery, pawl_error *err) {
    pawl_str text = {NULL, 0};
    for (size_t i = 0; i + 1 < fields->elements; i += 2) {
        if (strcmp(fields->element[i]->str, "event") == 0)
            text = (pawl_str){fields->element[i + 1]->str, fields->element[i + 1]->len};
    }
    return str_absent(text) ? take_strange(arena, fields, "the entry has no field \"event\"", delivery, err)
                            : transport_delivery_take(delivery, arena, text, NULL, err);
}

static bool shaped(const redisReply *reply, size_t elements) {
    return reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements >= elements;
}

/* The entries of [[stream, [[id, [field, value, …]], …]]]; NULL: it is something else. */
static const redisReply *entries_of(const redisReply *reply) {
    bool found = shaped(reply, 1) && shaped(reply->element[0], 2) && shaped(reply->element[0]->element[1], 0);
    return found ? reply->element[0]->element[1] : NULL;
}

/* Trimmed entries have no fields: they cannot be read, and nothing waits for them. */
static pawl_status forget_trimmed(struct transport *session, const redisReply *reply, pawl_error *err) {
    pawl_str words[WORDS_MAX] = {STR("XACK"), session->from, session->group};
    const redisReply *entries = entries_of(reply);
    int used = 3;
    for (size_t i = 0; entries != NULL && i < entries->elements && used < WORDS_MAX; i++) {
        if (!shaped(entries->element[i]->element[1], 1))
            words[used++] = str_from(entries->element[i]->element[0]->str);
    }
    return used > 3 ? ask(session, used, words, NULL, err) : PAWL_OK;
}

static pawl_status take_entries(struct transport *session, struct arena *arena, const redisReply *reply,
                                size_t max, struct transport_delivery *deliveries, size_t *count,
                                pawl_error *err) {
    const redisReply *entries = entries_of(reply);
    session->id_count = 0;
    for (size_t i = 0; entries != NULL && i < entries->elements && *count < max; i++) {
        const redisReply *entry = entries->element[i];
        if (!shaped(entry, 2) || entry->element[0]->type != REDIS_REPLY_STRING)
            return error_set(err, PAWL_UNAVAILABLE, "redis", "the server's answer has no entries");
        if (session->pending_after[0] != '\0')
            snprintf(session->pending_after, ENTRY_ID_BYTES, "%s", entry->element[0]->str);
        if (!shaped(entry->element[1], 1))
            continue;
        struct transport_delivery *delivery = &deliveries[*count];
        *delivery = (struct transport_delivery){.tag = session->id_count, .from = session->from};
        snprintf(session->ids[session->id_count++], ENTRY_ID_BYTES, "%s", entry->element[0]->str);
        pawl_status status = take_fields(arena, entry->element[1], delivery, err);
        if (status != PAWL_OK)
            return status;
        (*count)++;
    }
    return PAWL_OK;
}

static pawl_status read_once(struct transport *session, struct arena *arena, size_t max, int wait_ms,
                             struct transport_delivery *deliveries, size_t *count, pawl_error *err) {
    char limit[24], block[24];
    snprintf(limit, sizeof(limit), "%zu", max);
    snprintf(block, sizeof(block), "%d", wait_ms < 1 ? 1 : wait_ms);
    bool again = session->pending_after[0] != '\0';
    pawl_str words[] = {STR("XREADGROUP"),
                        STR("GROUP"),
                        session->group,
                        session->reader,
                        STR("COUNT"),
                        str_from(limit),
                        STR("BLOCK"),
                        str_from(block),
                        STR("STREAMS"),
                        session->from,
                        again ? str_from(session->pending_after) : STR(">")};
    redisReply *reply = NULL;
    session->confirm_ms += wait_ms;
    pawl_status status = ask(session, (int)(sizeof(words) / sizeof(*words)), words, &reply, err);
    session->confirm_ms -= wait_ms;
    if (status != PAWL_OK)
        return status;
    status = take_entries(session, arena, reply, max, deliveries, count, err);
    if (status == PAWL_OK)
        status = forget_trimmed(session, reply, err);
    const redisReply *entries = entries_of(reply);
    if (again && (entries == NULL || entries->elements == 0))
        session->pending_after[0] = '\0';
    freeReplyObject(reply);
    return status;
}

static pawl_status redis_receive(struct transport *session, struct arena *arena, size_t max, int wait_ms,
                                 struct transport_delivery *deliveries, size_t *count, pawl_error *err) {
    *count = 0;
    if (max > TRANSPORT_RECEIVE_MAX)
        max = TRANSPORT_RECEIVE_MAX;
    bool again = session->pending_after[0] != '\0';
    pawl_status status = read_once(session, arena, max, wait_ms, deliveries, count, err);
    if (status == PAWL_OK && *count == 0 && again && session->pending_after[0] == '\0')
        status = read_once(session, arena, max, wait_ms, deliveries, count, err);
    return status;
}

static pawl_status redis_acknowledge(struct transport *session, const uint64_t *tags, size_t count,
                                     enum transport_verdict verdict, pawl_error *err) {
    if (verdict == VERDICT_RETURN) {
        snprintf(session->pending_after, sizeof(session->pending_after), "0");
        return PAWL_OK;
    }
    if (count == 0)
        return PAWL_OK;
    pawl_str words[WORDS_MAX];
    int used = 0;
    words[used++] = STR("XACK");
    words[used++] = session->from;
    words[used++] = session->group;
    for (size_t i = 0; i < count && tags[i] < session->id_count; i++)
        words[used++] = str_from(session->ids[tags[i]]);
    return ask(session, used, words, NULL, err);
}

__attribute__((visibility("default"))) const struct transport_module pawl_transport_module = {
    .abi = TRANSPORT_ABI,
    .name = "redis",
    .library = LIBRARY,
    .session_bytes = sizeof(struct transport),
    .port = 6379,
    .tls_port = 6379,
    .keeps_order = false,
    .open = redis_open,
    .publish = redis_publish,
    .subscribe = redis_subscribe,
    .receive = redis_receive,
    .acknowledge = redis_acknowledge,
    .close = redis_close,
};
