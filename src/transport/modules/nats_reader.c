/* NATS JetStream: reading a stream from the group's last acknowledgement. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "transport/modules/nats.h"

enum { ACK_WAIT_SECONDS = 60 };

/* The state of one of our consumers: what the group has acknowledged, and whether it can simply continue. */
struct place {
    bool there;
    bool ready;     /* it has all our settings, and nothing delivered is unacknowledged */
    uint64_t floor; /* of the stream: everything up to here is acknowledged */
    uint64_t next;  /* the consumer's own number of what it delivers next */
};

static natsStatus look(struct transport *session, const char *name, struct place *place) {
    jsConsumerInfo *info = NULL;
    jsErrCode js_code = 0;
    *place = (struct place){.next = 1};
    natsStatus code = js_GetConsumerInfo(&info, session->js, session->stream, name, NULL, &js_code);
    if (code == NATS_NOT_FOUND)
        return NATS_OK;
    if (code != NATS_OK)
        return code;
    const jsConsumerConfig *config = info->Config;
    /* Before its first acknowledgement, a reader that started in the middle reports 0. */
    uint64_t began = config->OptStartSeq > 0 ? config->OptStartSeq - 1 : 0;
    place->there = true;
    place->ready = info->NumAckPending == 0 && config->AckPolicy == js_AckAll &&
                   config->FilterSubject != NULL && strcmp(config->FilterSubject, session->from.ptr) == 0;
    place->floor = began > info->AckFloor.Stream ? began : info->AckFloor.Stream;
    place->next = info->Delivered.Consumer + 1;
    jsConsumerInfo_Destroy(info);
    return NATS_OK;
}

static natsStatus consumer_make(struct transport *session, const char *name, uint64_t floor) {
    jsConsumerConfig consumer;
    jsErrCode js_code = 0;
    jsConsumerConfig_Init(&consumer);
    consumer.Durable = name;
    consumer.FilterSubject = session->from.ptr;
    consumer.DeliverPolicy = floor > 0 ? js_DeliverByStartSequence : js_DeliverAll;
    consumer.OptStartSeq = floor > 0 ? floor + 1 : 0;
    consumer.AckPolicy = js_AckAll;
    consumer.AckWait = (int64_t)ACK_WAIT_SECONDS * 1000000000;
    consumer.MaxAckPending = 2 * TRANSPORT_RECEIVE_MAX;
    return js_AddConsumer(NULL, session->js, session->stream, &consumer, NULL, &js_code);
}

static natsStatus consumer_drop(struct transport *session, const char *name) {
    jsErrCode js_code = 0;
    natsStatus code = js_DeleteConsumer(session->js, session->stream, name, NULL, &js_code);
    return code == NATS_NOT_FOUND ? NATS_OK : code;
}

/* The consumer with the group's position continues. If its last reader left messages unacknowledged, they
 * must be delivered again, in order, before anything newer, and only a new consumer does that. It is created
 * before the old one is removed, so that the position is never lost. After a crash in between both exist; the
 * higher position counts. */
static natsStatus choose(struct transport *session, const char **name, uint64_t *next) {
    const char *names[2] = {session->group, session->group_too};
    struct place places[2];
    natsStatus code = look(session, names[0], &places[0]);
    if (code == NATS_OK)
        code = look(session, names[1], &places[1]);
    if (code != NATS_OK)
        return code;
    int now = places[1].there && (!places[0].there || places[1].floor > places[0].floor ||
                                  (places[1].floor == places[0].floor && places[1].ready));
    int other = 1 - now;
    if (places[now].there && places[other].there)
        code = consumer_drop(session, names[other]);
    if (code == NATS_OK && !places[now].there)
        code = consumer_make(session, names[now], 0);
    if (code == NATS_OK && places[now].there && !places[now].ready) {
        code = consumer_make(session, names[other], places[now].floor);
        if (code == NATS_OK)
            code = consumer_drop(session, names[now]);
        places[other].next = 1;
        now = other;
    }
    *name = names[now];
    *next = places[now].next;
    return code;
}

static natsStatus place_reader(struct transport *session) {
    const char *name = NULL;
    jsErrCode js_code = 0;
    natsStatus code = choose(session, &name, &session->next);
    if (code != NATS_OK)
        return code;
    jsSubOptions options;
    jsSubOptions_Init(&options);
    options.Stream = session->stream;
    options.Consumer = name;
    return js_PullSubscribe(&session->pull, session->js, session->from.ptr, name, NULL, &options, &js_code);
}

static pawl_status find_stream(struct transport *session, pawl_error *err) {
    jsOptions options;
    jsOptions_Init(&options);
    jsStreamInfoList *list = NULL;
    jsErrCode js_code = 0;
    options.Stream.Info.SubjectsFilter = session->from.ptr;
    natsStatus code = js_Streams(&list, session->js, &options, &js_code);
    if (code == NATS_OK && list->Count > 0)
        session->stream = arena_strdup(session->arena, list->List[0]->Config->Name);
    if (code == NATS_OK)
        jsStreamInfoList_Destroy(list);
    if (code != NATS_OK && code != NATS_NOT_FOUND)
        return nats_failed(code, "cannot look for the stream", err);
    if (session->stream == NULL)
        return error_set(err, PAWL_NOT_FOUND, "nats", "no JetStream stream has the subject %s",
                         session->from.ptr);
    return PAWL_OK;
}

pawl_status nats_session_subscribe(struct transport *session, const struct transport_subscription *in,
                                   pawl_error *err) {
    pawl_str group;
    pawl_status status = str_dup(session->arena, in->from, &session->from, err);
    if (status == PAWL_OK)
        status = str_dup(session->arena, in->group, &group, err);
    if (status != PAWL_OK)
        return status;
    session->group = group.ptr;
    session->group_too = arena_printf(session->arena, "%s-2", group.ptr);
    if (session->group_too == NULL)
        return error_set(err, PAWL_NO_MEMORY, "nats", "out of memory");
    status = find_stream(session, err);
    if (status != PAWL_OK)
        return status;
    natsStatus code = place_reader(session);
    return code == NATS_OK ? PAWL_OK : nats_failed(code, "cannot subscribe", err);
}

static pawl_status take_binary(struct arena *arena, natsMsg *msg, struct event *event, bool *binary,
                               pawl_error *err) {
    const char **keys = NULL;
    int count = 0;
    natsStatus code = natsMsgHeader_Keys(msg, &keys, &count);
    pawl_status status = PAWL_OK;
    for (int i = 0; code == NATS_OK && i < count && status == PAWL_OK; i++) {
        const char *value = NULL;
        if (natsMsgHeader_Get(msg, keys[i], &value) != NATS_OK || value == NULL)
            continue;
        pawl_str copy;
        status = str_dup(arena, str_from(value), &copy, err);
        if (status == PAWL_OK)
            status = event_take_header(event, "ce-", str_from(keys[i]), copy, binary, err);
    }
    free((void *)keys);
    return status;
}

static pawl_status take_delivery(struct transport *session, struct arena *arena, natsMsg *msg,
                                 struct transport_delivery *delivery, pawl_error *err) {
    *delivery = (struct transport_delivery){.from = session->from};
    pawl_str body = {natsMsg_GetData(msg), (size_t)natsMsg_GetDataLength(msg)};
    pawl_status status = str_dup(arena, body.ptr != NULL ? body : STR(""), &delivery->raw, err);
    if (status != PAWL_OK)
        return status;
    pawl_error reason = {0};
    bool version = false;
    status = take_binary(arena, msg, &delivery->event, &version, &reason);
    transport_delivery_judge(delivery, arena, version, status, &reason);
    return PAWL_OK;
}

/* An acknowledgement covers everything before it, so no other reader may have used this consumer in the
 * meantime. */
static pawl_status follows(struct transport *session, natsMsg *msg, pawl_error *err) {
    jsMsgMetaData *data = NULL;
    natsStatus code = natsMsg_GetMetaData(&data, msg);
    if (code != NATS_OK)
        return nats_failed(code, "cannot read the position of a message", err);
    bool good = data->Sequence.Consumer == session->next++;
    jsMsgMetaData_Destroy(data);
    return good ? PAWL_OK
                : error_set(err, PAWL_UNAVAILABLE, "nats", "another reader of %s has read meanwhile",
                            session->group);
}

pawl_status nats_session_receive(struct transport *session, struct arena *arena, size_t max, int wait_ms,
                                 struct transport_delivery *deliveries, size_t *count, pawl_error *err) {
    *count = 0;
    natsMsgList list = {0};
    jsErrCode js_code = 0;
    natsStatus code =
        natsSubscription_Fetch(&list, session->pull, (int)max, wait_ms < 10 ? 10 : wait_ms, &js_code);
    if (code == NATS_TIMEOUT)
        return natsConnection_Status(session->connection) == NATS_CONN_STATUS_CONNECTED
                   ? PAWL_OK
                   : nats_failed(NATS_CONNECTION_CLOSED, "cannot receive", err);
    if (code != NATS_OK)
        return nats_failed(code, "cannot receive", err);
    pawl_status status = PAWL_OK;
    for (int i = 0; i < list.Count && status == PAWL_OK; i++) {
        status = follows(session, list.Msgs[i], err);
        if (status != PAWL_OK)
            break;
        status = take_delivery(session, arena, list.Msgs[i], &deliveries[*count], err);
        deliveries[(*count)++].tag = (uint64_t)i;
    }
    if (list.Count > 0) {
        natsMsg_Destroy(session->last);
        session->last = list.Msgs[list.Count - 1];
        list.Msgs[list.Count - 1] = NULL;
    }
    natsMsgList_Destroy(&list);
    return status;
}

pawl_status nats_session_acknowledge(struct transport *session, const uint64_t *tags, size_t count,
                                     enum transport_verdict verdict, pawl_error *err) {
    (void)tags;
    if (count == 0 || session->last == NULL)
        return PAWL_OK;
    if (verdict == VERDICT_RETURN) {
        natsSubscription_Destroy(session->pull);
        session->pull = NULL;
        natsStatus again = place_reader(session);
        return again == NATS_OK ? PAWL_OK : nats_failed(again, "cannot subscribe again", err);
    }
    jsErrCode js_code = 0;
    natsStatus code = natsMsg_AckSync(session->last, NULL, &js_code);
    natsMsg_Destroy(session->last);
    session->last = NULL;
    return code == NATS_OK ? PAWL_OK : nats_failed(code, "cannot acknowledge", err);
}
