/* NATS JetStream: CloudEvents in headers, the broker's own deduplication by Nats-Msg-Id. */
#include <nats/nats.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "transport/address.h"
#include "transport/transport.h"

enum { PORT_DEFAULT = 4222, SUBJECT_BYTES = 256, ACK_WAIT_SECONDS = 60, CLOSE_MS = 2000 };

struct transport {
    natsConnection *connection;
    jsCtx *js;
    natsSubscription
        *acks; /* answers of the streams to what was published; a thread of the library's brings them */
    char inbox[SUBJECT_BYTES];
    pthread_mutex_t lock; /* of the fields up to acks_over */
    pthread_cond_t changed;
    uint64_t call; /* answers to an earlier call are not ours */
    struct transport_result *results;
    size_t result_count, open;
    bool acks_over;
    int confirm_ms;
    struct arena *arena; /* of names */
    pawl_str from;
    const char *group, *stream;
    natsSubscription *pull;
    natsMsg *last; /* of the last receive; acknowledging it acknowledges all */
};

static pawl_status failed(natsStatus code, const char *what, pawl_error *err) {
    bool wrong = code == NATS_CONNECTION_AUTH_FAILED || code == NATS_NOT_PERMITTED ||
                 code == NATS_SSL_ERROR || code == NATS_SECURE_CONNECTION_REQUIRED ||
                 code == NATS_SECURE_CONNECTION_WANTED;
    natsStatus ignored;
    const char *more = nats_GetLastError(&ignored);
    return error_set(err, wrong ? PAWL_INVALID : PAWL_UNAVAILABLE, "nats", "%s: %s%s%.200s", what,
                     natsStatus_GetText(code), more != NULL && more[0] != '\0' ? ": " : "",
                     more != NULL ? more : "");
}

/* The stream's answer: {"stream":…,"seq":…} or {"error":{"code":…,"description":…}}. */
static void judge(natsMsg *msg, struct transport_result *result) {
    const char *data = natsMsg_GetData(msg);
    int len = natsMsg_GetDataLength(msg);
    char text[TRANSPORT_ERROR_BYTES];
    snprintf(text, sizeof(text), "%.*s", len < 200 ? len : 200, data != NULL ? data : "");
    if (natsMsg_IsNoResponders(msg))
        transport_result_set(result, FATE_REFUSED, "no stream takes this subject");
    else if (strstr(text, "\"error\"") != NULL)
        transport_result_set(result, strstr(text, "exceeds maximum") != NULL ? FATE_REJECTED : FATE_REFUSED,
                             "the broker says: %.200s", text);
    else if (strstr(text, "\"seq\"") != NULL)
        transport_result_set(result, FATE_CONFIRMED, "%s", "");
    else
        transport_result_set(result, FATE_REFUSED, "the broker's answer is not understood: %.150s", text);
}

static void on_answer(natsConnection *connection, natsSubscription *subscription, natsMsg *msg, void *self) {
    struct transport *session = self;
    unsigned long long call = 0;
    size_t number = 0;
    size_t prefix = strlen(session->inbox) + 1;
    const char *subject = natsMsg_GetSubject(msg);
    (void)connection;
    (void)subscription;
    pthread_mutex_lock(&session->lock);
    if (strlen(subject) > prefix && sscanf(subject + prefix, "%llu.%zu", &call, &number) == 2 &&
        call == session->call && number < session->result_count &&
        session->results[number].fate == FATE_UNAVAILABLE) {
        judge(msg, &session->results[number]);
        session->open--;
        pthread_cond_signal(&session->changed);
    }
    pthread_mutex_unlock(&session->lock);
    natsMsg_Destroy(msg);
}

static void on_answers_over(void *self) {
    struct transport *session = self;
    pthread_mutex_lock(&session->lock);
    session->acks_over = true;
    pthread_cond_signal(&session->changed);
    pthread_mutex_unlock(&session->lock);
}

static struct timespec deadline_of(int64_t ms) {
    struct timespec when;
    clock_gettime(CLOCK_MONOTONIC, &when);
    when.tv_sec += ms / 1000;
    when.tv_nsec += ms % 1000 * 1000000;
    if (when.tv_nsec >= 1000000000) {
        when.tv_sec++;
        when.tv_nsec -= 1000000000;
    }
    return when;
}

/* The library's thread may be in our callback: it has left before the memory goes. */
static void acks_end(struct transport *session) {
    if (session->acks == NULL)
        return;
    natsSubscription_Unsubscribe(session->acks);
    struct timespec until = deadline_of(CLOSE_MS);
    pthread_mutex_lock(&session->lock);
    session->result_count = 0;
    while (!session->acks_over && pthread_cond_timedwait(&session->changed, &session->lock, &until) == 0)
        ;
    pthread_mutex_unlock(&session->lock);
    natsSubscription_Destroy(session->acks);
}

static void nats_session_close(struct transport *session) {
    if (session == NULL)
        return;
    natsMsg_Destroy(session->last);
    natsSubscription_Destroy(session->pull);
    acks_end(session);
    jsCtx_Destroy(session->js);
    natsConnection_Destroy(session->connection);
    arena_free(session->arena);
    pthread_mutex_destroy(&session->lock);
    pthread_cond_destroy(&session->changed);
    free(session);
}

static natsStatus set_options(natsOptions *options, const struct transport_config *config,
                              const struct address *address) {
    char url[SUBJECT_BYTES];
    snprintf(url, sizeof(url), "nats://%s:%d", address->host,
             address->port != 0 ? address->port : PORT_DEFAULT);
    const char *user = config->user != NULL ? config->user : address->user;
    const char *password = config->password != NULL ? config->password : address->password;
    natsStatus code = natsOptions_SetURL(options, url);
    if (code == NATS_OK)
        code = natsOptions_SetTimeout(options, config->connect_ms);
    if (code == NATS_OK)
        code = natsOptions_SetName(options, "pawl");
    if (code == NATS_OK)
        code = natsOptions_SetAllowReconnect(options, false); /* a session that broke says so */
    if (code == NATS_OK && user != NULL && password != NULL)
        code = natsOptions_SetUserInfo(options, user, password);
    else if (code == NATS_OK && password != NULL)
        code = natsOptions_SetToken(options, password);
    if (code == NATS_OK && address->tls) {
        code = natsOptions_SetSecure(options, true);
        if (code == NATS_OK)
            code = natsOptions_SetExpectedHostname(options, address->host);
        if (code == NATS_OK && config->ca_file != NULL)
            code = natsOptions_LoadCATrustedCertificates(options, config->ca_file);
        if (code == NATS_OK && config->cert_file != NULL)
            code = natsOptions_LoadCertificatesChain(
                options, config->cert_file, config->key_file != NULL ? config->key_file : config->cert_file);
    }
    return code;
}

static pawl_status connect_to(struct transport *session, const struct transport_config *config,
                              const struct address *address, pawl_error *err) {
    natsOptions *options = NULL;
    natsStatus code = natsOptions_Create(&options);
    if (code == NATS_OK)
        code = set_options(options, config, address);
    if (code == NATS_OK)
        code = natsConnection_Connect(&session->connection, options);
    natsOptions_Destroy(options);
    if (code != NATS_OK)
        return failed(code, "cannot connect", err);
    jsOptions js;
    jsOptions_Init(&js);
    js.Wait = config->confirm_ms;
    natsInbox *inbox = NULL;
    code = natsConnection_JetStream(&session->js, session->connection, &js);
    if (code == NATS_OK)
        code = natsInbox_Create(&inbox);
    if (code == NATS_OK) {
        snprintf(session->inbox, sizeof(session->inbox), "%s", inbox);
        char all[SUBJECT_BYTES + 8];
        snprintf(all, sizeof(all), "%s.>", session->inbox);
        code = natsConnection_Subscribe(&session->acks, session->connection, all, on_answer, session);
        if (code == NATS_OK)
            code = natsSubscription_SetOnCompleteCB(session->acks, on_answers_over, session);
    }
    natsInbox_Destroy(inbox);
    return code == NATS_OK ? PAWL_OK : failed(code, "no JetStream", err);
}

static pawl_status nats_session_open(const struct transport_config *config, struct transport **out,
                                     pawl_error *err) {
    struct transport *session = calloc(1, sizeof(*session));
    if (session == NULL)
        return error_set(err, PAWL_NO_MEMORY, "nats", "out of memory");
    session->confirm_ms = config->confirm_ms;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&session->lock, NULL);
    pthread_cond_init(&session->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    session->arena = arena_create(0);
    struct address address;
    pawl_status status = session->arena == NULL ? error_set(err, PAWL_NO_MEMORY, "nats", "out of memory")
                                                : address_parse(session->arena, config->url, &address, err);
    if (status == PAWL_OK)
        status = connect_to(session, config, &address, err);
    if (status != PAWL_OK) {
        nats_session_close(session);
        return status;
    }
    *out = session;
    return PAWL_OK;
}

static natsStatus set_headers(struct arena *arena, natsMsg *msg, const struct event *event) {
    struct event_attribute attributes[EVENT_ATTRIBUTES_MAX];
    size_t count = event_attributes(event, attributes);
    natsStatus code = NATS_OK;
    for (size_t i = 0; i < count && code == NATS_OK; i++) {
        char name[48];
        bool data_type = strcmp(attributes[i].name, "datacontenttype") == 0;
        snprintf(name, sizeof(name), "%s%s", data_type ? "" : "ce-",
                 data_type ? "content-type" : attributes[i].name);
        char *value = arena_copy(arena, attributes[i].value.ptr, attributes[i].value.len);
        code = value != NULL ? natsMsgHeader_Set(msg, name, value) : NATS_NO_MEMORY;
        if (code == NATS_OK && strcmp(attributes[i].name, "id") == 0)
            code = natsMsgHeader_Set(msg, "Nats-Msg-Id", value);
    }
    return code;
}

static natsStatus send_one(struct transport *session, struct arena *arena,
                           const struct transport_message *message, size_t number) {
    char reply[SUBJECT_BYTES + 48];
    snprintf(reply, sizeof(reply), "%s.%llu.%zu", session->inbox, (unsigned long long)session->call, number);
    natsMsg *msg = NULL;
    const char *subject = arena_copy(arena, message->destination.ptr, message->destination.len);
    if (subject == NULL)
        return NATS_NO_MEMORY;
    natsStatus code =
        natsMsg_Create(&msg, subject, reply, message->event.data.ptr, (int)message->event.data.len);
    if (code == NATS_OK)
        code = set_headers(arena, msg, &message->event);
    if (code == NATS_OK)
        code = natsConnection_PublishMsg(session->connection, msg);
    natsMsg_Destroy(msg);
    return code;
}

/* Nobody writes the results after this. */
static pawl_status await_answers(struct transport *session, pawl_error *err) {
    struct timespec until = deadline_of(session->confirm_ms);
    int code = 0;
    pthread_mutex_lock(&session->lock);
    while (session->open > 0 && code == 0 && !session->acks_over)
        code = pthread_cond_timedwait(&session->changed, &session->lock, &until);
    bool all = session->open == 0;
    session->result_count = 0;
    pthread_mutex_unlock(&session->lock);
    return all ? PAWL_OK : error_set(err, PAWL_UNAVAILABLE, "nats", "the broker did not confirm");
}

static pawl_status nats_session_publish(struct transport *session, const struct transport_message *messages,
                                        size_t count, struct transport_result *results, pawl_error *err) {
    transport_results_unknown(results, count, "the broker did not confirm it");
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_set(err, PAWL_NO_MEMORY, "nats", "out of memory");
    pthread_mutex_lock(&session->lock);
    session->call++;
    session->results = results;
    session->result_count = count;
    session->open = count;
    pthread_mutex_unlock(&session->lock);
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        natsStatus code = send_one(session, arena, &messages[i], i);
        if (code == NATS_OK)
            continue;
        pthread_mutex_lock(&session->lock);
        session->open--;
        if (code == NATS_MAX_PAYLOAD)
            transport_result_set(&results[i], FATE_REJECTED,
                                 "the message is larger than the broker's limit of %lld bytes",
                                 (long long)natsConnection_GetMaxPayload(session->connection));
        else if (code == NATS_INVALID_SUBJECT || code == NATS_INVALID_ARG)
            transport_result_set(&results[i], FATE_REJECTED, "the destination is not a subject");
        else
            status = failed(code, "cannot publish", err);
        pthread_mutex_unlock(&session->lock);
    }
    pawl_error late = {0};
    pawl_status answered = status == PAWL_OK ? await_answers(session, &late) : PAWL_OK;
    if (answered != PAWL_OK)
        *err = late;
    pthread_mutex_lock(&session->lock);
    session->result_count = 0;
    pthread_mutex_unlock(&session->lock);
    arena_free(arena);
    return status != PAWL_OK ? status : answered;
}

/* A new reader begins behind what was acknowledged: what the last one left open comes again, in order, before
 * anything newer. */
static natsStatus place_reader(struct transport *session) {
    jsConsumerInfo *info = NULL;
    jsErrCode js_code = 0;
    uint64_t floor = 0;
    natsStatus code = js_GetConsumerInfo(&info, session->js, session->stream, session->group, NULL, &js_code);
    if (code == NATS_OK) {
        /* Before its first acknowledgement a reader that began in the middle says 0. */
        uint64_t began = info->Config->OptStartSeq;
        floor = info->AckFloor.Stream;
        floor = began > 0 && began - 1 > floor ? began - 1 : floor;
        jsConsumerInfo_Destroy(info);
        code = js_DeleteConsumer(session->js, session->stream, session->group, NULL, &js_code);
    } else if (code == NATS_NOT_FOUND) {
        code = NATS_OK;
    }
    if (code != NATS_OK)
        return code;
    jsConsumerConfig consumer;
    jsConsumerConfig_Init(&consumer);
    consumer.Durable = session->group;
    consumer.FilterSubject = session->from.ptr;
    consumer.DeliverPolicy = floor > 0 ? js_DeliverByStartSequence : js_DeliverAll;
    consumer.OptStartSeq = floor > 0 ? floor + 1 : 0;
    consumer.AckPolicy = js_AckAll;
    consumer.AckWait = (int64_t)ACK_WAIT_SECONDS * 1000000000;
    consumer.MaxAckPending = 2 * TRANSPORT_RECEIVE_MAX;
    code = js_AddConsumer(NULL, session->js, session->stream, &consumer, NULL, &js_code);
    if (code != NATS_OK)
        return code;
    jsSubOptions options;
    jsSubOptions_Init(&options);
    options.Stream = session->stream;
    options.Consumer = session->group;
    return js_PullSubscribe(&session->pull, session->js, session->from.ptr, session->group, NULL, &options,
                            &js_code);
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
        return failed(code, "cannot look for the stream", err);
    if (session->stream == NULL)
        return error_set(err, PAWL_NOT_FOUND, "nats", "no JetStream stream has the subject %s",
                         session->from.ptr);
    return PAWL_OK;
}

static pawl_status nats_session_subscribe(struct transport *session, const struct transport_subscription *in,
                                          pawl_error *err) {
    pawl_str group;
    pawl_status status = str_dup(session->arena, in->from, &session->from, err);
    if (status == PAWL_OK)
        status = str_dup(session->arena, in->group, &group, err);
    if (status != PAWL_OK)
        return status;
    session->group = group.ptr;
    status = find_stream(session, err);
    if (status != PAWL_OK)
        return status;
    natsStatus code = place_reader(session);
    return code == NATS_OK ? PAWL_OK : failed(code, "cannot subscribe", err);
}

static pawl_status take_binary(struct arena *arena, natsMsg *msg, struct event *event, bool *version,
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
        bool known = true;
        if (status == PAWL_OK && strcasecmp(keys[i], "content-type") == 0)
            event->data_type = copy;
        else if (status == PAWL_OK && strncasecmp(keys[i], "ce-", 3) == 0)
            known = event_set(event, str_from(keys[i] + 3), copy);
        *version = *version || strcasecmp(keys[i], "ce-specversion") == 0;
        if (!known)
            status = error_set(err, PAWL_INVALID, "nats", "specversion is %s; 1.0 is understood", value);
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

static pawl_status nats_session_receive(struct transport *session, struct arena *arena, size_t max,
                                        int wait_ms, struct transport_delivery *deliveries, size_t *count,
                                        pawl_error *err) {
    *count = 0;
    natsMsgList list = {0};
    jsErrCode js_code = 0;
    natsStatus code =
        natsSubscription_Fetch(&list, session->pull, (int)max, wait_ms < 10 ? 10 : wait_ms, &js_code);
    if (code == NATS_TIMEOUT)
        return natsConnection_Status(session->connection) == NATS_CONN_STATUS_CONNECTED
                   ? PAWL_OK
                   : failed(NATS_CONNECTION_CLOSED, "cannot receive", err);
    if (code != NATS_OK)
        return failed(code, "cannot receive", err);
    pawl_status status = PAWL_OK;
    for (int i = 0; i < list.Count && status == PAWL_OK; i++) {
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

static pawl_status nats_session_acknowledge(struct transport *session, const uint64_t *tags, size_t count,
                                            enum transport_verdict verdict, pawl_error *err) {
    (void)tags;
    if (count == 0 || session->last == NULL)
        return PAWL_OK;
    if (verdict == VERDICT_RETURN) {
        natsSubscription_Destroy(session->pull);
        session->pull = NULL;
        natsStatus again = place_reader(session);
        return again == NATS_OK ? PAWL_OK : failed(again, "cannot subscribe again", err);
    }
    jsErrCode js_code = 0;
    natsStatus code = natsMsg_AckSync(session->last, NULL, &js_code);
    natsMsg_Destroy(session->last);
    session->last = NULL;
    return code == NATS_OK ? PAWL_OK : failed(code, "cannot acknowledge", err);
}

__attribute__((visibility("default"))) const struct transport_module pawl_transport_module = {
    .abi = TRANSPORT_ABI,
    .name = "nats",
    .library = "libnats " NATS_VERSION_STRING,
    .keeps_order = false,
    .open = nats_session_open,
    .publish = nats_session_publish,
    .subscribe = nats_session_subscribe,
    .receive = nats_session_receive,
    .acknowledge = nats_session_acknowledge,
    .close = nats_session_close,
};
