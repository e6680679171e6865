/* NATS JetStream: reading a stream from the group's last acknowledgement. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "transport/modules/nats.h"

enum { ACK_WAIT_SECONDS = 60, PULL_MS_MIN = 10, MESSAGES_SID = 2 };

/* The state of one of our consumers: what the group has acknowledged, and whether it can simply continue. */
struct place {
    bool there;
    bool ready;     /* it has all our settings, and nothing delivered is unacknowledged */
    uint64_t floor; /* of the stream: everything up to here is acknowledged */
    uint64_t next;  /* the consumer's own number of what it delivers next */
};

static uint64_t number_in(const struct tree *object, const char *name) {
    int64_t number = tree_get_i64(object, name);
    return number > 0 ? (uint64_t)number : 0;
}

/* An operation of the API on a consumer. */
static pawl_status consumer_call(struct transport *session, const char *operation, const char *name,
                                 pawl_str question, const struct tree **answer, pawl_error *err) {
    char subject[1024];
    snprintf(subject, sizeof(subject), "CONSUMER.%s.%s.%s", operation, session->stream, name);
    return nats_api(session, subject, question, answer, err);
}

static pawl_status look(struct transport *session, const char *name, struct place *place, pawl_error *err) {
    const struct tree *info = NULL;
    *place = (struct place){.next = 1};
    pawl_status status = consumer_call(session, "INFO", name, STR(""), &info, err);
    if (status != PAWL_OK)
        return status == PAWL_NOT_FOUND ? PAWL_OK : status;
    const struct tree *config = tree_get_cstr(info, "config");
    /* Before its first acknowledgement, a reader that started in the middle reports 0. */
    uint64_t start = number_in(config, "opt_start_seq"), began = start > 0 ? start - 1 : 0;
    uint64_t acknowledged = number_in(tree_get_cstr(info, "ack_floor"), "stream_seq");
    place->there = true;
    place->ready = number_in(info, "num_ack_pending") == 0 &&
                   str_equal(tree_get_text(config, "ack_policy"), STR("all")) &&
                   str_equal(tree_get_text(config, "filter_subject"), session->from);
    place->floor = began > acknowledged ? began : acknowledged;
    place->next = number_in(tree_get_cstr(info, "delivered"), "consumer_seq") + 1;
    return PAWL_OK;
}

static pawl_status consumer_make(struct transport *session, const char *name, uint64_t floor,
                                 pawl_error *err) {
    struct buf question;
    struct json_writer json;
    buf_init(&question, 0);
    json_writer_init(&json, &question);
    json_begin_object(&json);
    json_put_cstr(&json, "stream_name", session->stream);
    json_key(&json, "config");
    json_begin_object(&json);
    const char *const texts[][2] = {{"durable_name", name},
                                    {"filter_subject", session->from.ptr},
                                    {"deliver_policy", floor > 0 ? "by_start_sequence" : "all"},
                                    {"ack_policy", "all"},
                                    {"replay_policy", "instant"}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        json_put_cstr(&json, texts[i][0], texts[i][1]);
    if (floor > 0)
        json_put_int(&json, "opt_start_seq", (int64_t)floor + 1);
    json_put_int(&json, "ack_wait", (int64_t)ACK_WAIT_SECONDS * 1000000000);
    json_put_int(&json, "max_ack_pending", (int64_t)2 * TRANSPORT_RECEIVE_MAX);
    json_end_object(&json);
    json_end_object(&json);
    const struct tree *ignored;
    pawl_status status = buf_status(&question, "nats", err);
    if (status == PAWL_OK)
        status = consumer_call(session, "DURABLE.CREATE", name, buf_str(&question), &ignored, err);
    buf_free(&question);
    return status;
}

static pawl_status consumer_drop(struct transport *session, const char *name, pawl_error *err) {
    const struct tree *ignored;
    pawl_status status = consumer_call(session, "DELETE", name, STR(""), &ignored, err);
    return status == PAWL_NOT_FOUND ? PAWL_OK : status;
}

/* The consumer with the group's position continues. If its last reader left messages unacknowledged, they
 * must be delivered again, in order, before anything newer, and only a new consumer does that. It is created
 * before the old one is removed, so that the position is never lost. After a crash in between both exist; the
 * higher position counts. */
static pawl_status choose(struct transport *session, pawl_error *err) {
    const char *names[2] = {session->group.ptr, session->group_too};
    struct place places[2];
    pawl_status status = look(session, names[0], &places[0], err);
    if (status == PAWL_OK)
        status = look(session, names[1], &places[1], err);
    if (status != PAWL_OK)
        return status;
    int now = places[1].there && (!places[0].there || places[1].floor > places[0].floor ||
                                  (places[1].floor == places[0].floor && places[1].ready));
    int other = 1 - now;
    if (places[now].there && places[other].there)
        status = consumer_drop(session, names[other], err);
    if (status == PAWL_OK && !places[now].there)
        status = consumer_make(session, names[now], 0, err);
    if (status == PAWL_OK && places[now].there && !places[now].ready) {
        status = consumer_make(session, names[other], places[now].floor, err);
        if (status == PAWL_OK)
            status = consumer_drop(session, names[now], err);
        places[other].next = 1;
        now = other;
    }
    session->consumer = names[now];
    session->next = places[now].next;
    return status;
}

/* Messages come to a subscription of their own; what is on its way to an earlier one is not ours. */
static pawl_status place_reader(struct transport *session, pawl_error *err) {
    pawl_status status = choose(session, err);
    if (status != PAWL_OK)
        return status;
    if (session->sid > 0)
        buf_printf(&session->out, "UNSUB %llu\r\n", (unsigned long long)session->sid);
    session->sid = session->sid > 0 ? session->sid + 1 : MESSAGES_SID;
    session->wanted = 0;
    buf_printf(&session->out, "SUB %s-%llu.* %llu\r\n", session->inbox, (unsigned long long)session->sid,
               (unsigned long long)session->sid);
    return nats_flush(session, clock_boot_ms() + session->confirm_ms, err);
}

static pawl_status find_stream(struct transport *session, pawl_error *err) {
    struct buf question;
    const struct tree *answer = NULL;
    buf_init(&question, 0);
    buf_append_cstr(&question, "{\"subject\":");
    json_quote(&question, session->from);
    buf_append_char(&question, '}');
    pawl_status status = buf_status(&question, "nats", err);
    if (status == PAWL_OK)
        status = nats_api(session, "STREAM.NAMES", buf_str(&question), &answer, err);
    buf_free(&question);
    if (status != PAWL_OK)
        return status;
    const struct tree *names = tree_get_cstr(answer, "streams");
    if (names == NULL || names->kind != TREE_ARRAY || names->count == 0)
        return error_set(err, PAWL_NOT_FOUND, "nats", "no JetStream stream has the subject %s",
                         session->from.ptr);
    pawl_str name;
    status = str_dup(session->arena, names->items[0]->text, &name, err);
    session->stream = name.ptr;
    return status;
}

/* The group names a consumer, which is one word of a subject. */
static bool is_group(pawl_str text) {
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if ((unsigned char)c <= ' ' || c == '\x7f' || c == '.' || c == '*' || c == '>')
            return false;
    }
    return text.len > 0;
}

pawl_status nats_session_subscribe(struct transport *session, pawl_error *err) {
    if (!is_group(session->group))
        return error_set(err, PAWL_INVALID, "nats",
                         "the group cannot name a consumer: use letters, digits, - and _, but no blanks, "
                         "control characters, '.', '*' or '>'");
    session->group_too = arena_printf(session->arena, "%s-2", session->group.ptr);
    if (session->group_too == NULL)
        return error_no_memory(err, "nats");
    pawl_status status = find_stream(session, err);
    return status == PAWL_OK ? place_reader(session, err) : status;
}

static pawl_status take_delivery(struct transport *session, struct arena *arena,
                                 const struct nats_frame *frame, struct transport_delivery *delivery,
                                 pawl_error *err) {
    pawl_str lines = frame->headers, line;
    struct transport_attributes attributes = {.binary = false};
    *delivery = (struct transport_delivery){.from = session->from};
    while (str_next(&lines, '\n', &line)) {
        pawl_str value, name = str_before(line, ':', &value);
        if (!str_absent(value))
            transport_header(delivery, arena, "ce-", name, str_trim(value), &attributes);
    }
    return transport_delivery_take(delivery, arena, frame->data, &attributes, err);
}

/* An acknowledgement covers everything before it, so no other reader may have used this consumer in the
 * meantime. The number is in the subject for the acknowledgement: $JS.ACK.STREAM.CONSUMER.DELIVERED.
 * STREAM-NUMBER.CONSUMER-NUMBER.TIME.PENDING; newer brokers have DOMAIN.ACCOUNT before STREAM. */
static pawl_status follows(struct transport *session, pawl_str reply, pawl_error *err) {
    pawl_str words[16] = {{NULL, 0}};
    size_t count = 0;
    uint64_t number = 0;
    while (count < 16 && str_next(&reply, '.', &words[count]))
        count++;
    size_t at = count == 9 ? 6 : 8;
    if (count < 9 || count == 10 || !str_to_u64(words[at], UINT64_MAX, &number) ||
        !str_to_u64(words[at + 2], UINT64_MAX, &session->pending))
        return error_set(err, PAWL_UNAVAILABLE, "nats", "cannot read the position of a message");
    return number == session->next++
               ? PAWL_OK
               : error_set(err, PAWL_UNAVAILABLE, "nats", "another reader of %s has read meanwhile",
                           session->group.ptr);
}

static pawl_status pull(struct transport *session, size_t max, int64_t until_ms, pawl_error *err) {
    char subject[1024], reply[NATS_SUBJECT_BYTES], question[96];
    int64_t now_ms = clock_boot_ms();
    session->pulls++;
    session->wanted = max;
    session->wanted_till_ms = until_ms > now_ms + PULL_MS_MIN ? until_ms : now_ms + PULL_MS_MIN;
    int made = snprintf(subject, sizeof(subject), "$JS.API.CONSUMER.MSG.NEXT.%s.%s", session->stream,
                        session->consumer);
    if (made < 0 || (size_t)made >= sizeof(subject))
        return error_set(err, PAWL_INVALID, "nats", "the names of stream and group are too long");
    snprintf(reply, sizeof(reply), "%s-%llu.%llu", session->inbox, (unsigned long long)session->sid,
             (unsigned long long)session->pulls);
    snprintf(question, sizeof(question), "{\"batch\":%zu,\"expires\":%lld}", max,
             (long long)(session->wanted_till_ms - now_ms) * 1000000);
    buf_reset(&session->headers);
    nats_put(session, str_from(subject), reply, str_from(question));
    return nats_flush(session, now_ms + session->confirm_ms, err);
}

/* A pull ends with a status when its time is over (408) or there is nothing; others are the consumer's end.
 */
static pawl_status pull_ended(struct transport *session, const struct nats_frame *frame, pawl_error *err) {
    pawl_str number;
    uint64_t pulled = 0;
    (void)str_before(str_skip(frame->subject, strlen(session->inbox)), '.', &number);
    if (str_to_u64(number, UINT64_MAX, &pulled) && pulled == session->pulls)
        session->wanted = 0;
    if (frame->status == 100 || frame->status == 404 || frame->status == 408)
        return PAWL_OK;
    return error_set(err, PAWL_UNAVAILABLE, "nats", "cannot receive: the broker ended the request with %lld",
                     (long long)frame->status);
}

pawl_status nats_session_receive(struct transport *session, struct arena *arena, size_t max, int wait_ms,
                                 struct transport_delivery *deliveries, size_t *count, pawl_error *err) {
    int64_t until_ms = clock_boot_ms() + (wait_ms < PULL_MS_MIN ? PULL_MS_MIN : wait_ms);
    *count = 0;
    pawl_status status = PAWL_OK;
    while (status == PAWL_OK && *count < max) {
        struct nats_frame frame = {.sid = 0};
        int64_t now_ms = clock_boot_ms();
        if (*count == 0 && (session->wanted == 0 || now_ms >= session->wanted_till_ms)) {
            if (now_ms >= until_ms)
                return PAWL_OK;
            status = pull(session, max, until_ms, err);
        }
        if (status == PAWL_OK)
            status = nats_next(session,
                               *count == 0 || (session->pending > 0 && session->wanted > 0) ? until_ms : 0,
                               &frame, err);
        if (status != PAWL_OK)
            continue;
        if (frame.sid != session->sid || frame.reply.len == 0) {
            status = frame.sid == session->sid ? pull_ended(session, &frame, err) : PAWL_OK;
            if (status == PAWL_OK)
                status = nats_in_time(until_ms, err);
            continue;
        }
        session->wanted -= session->wanted > 0;
        status = follows(session, frame.reply, err);
        if (status == PAWL_OK)
            status = take_delivery(session, arena, &frame, &deliveries[*count], err);
        if (status == PAWL_OK) {
            deliveries[*count].tag = *count;
            (*count)++;
            buf_reset(&session->last);
            buf_append_str(&session->last, frame.reply);
            status = buf_status(&session->last, "nats", err);
        }
    }
    return status == PAWL_BUSY ? PAWL_OK : status;
}

pawl_status nats_session_acknowledge(struct transport *session, const uint64_t *tags, size_t count,
                                     enum transport_verdict verdict, pawl_error *err) {
    (void)tags;
    if (count == 0 || session->last.len == 0)
        return PAWL_OK;
    if (verdict == VERDICT_RETURN) {
        buf_reset(&session->last);
        return place_reader(session, err);
    }
    struct nats_frame answer;
    pawl_status status = nats_ask(session, buf_str(&session->last), STR("+ACK"), &answer, err);
    buf_reset(&session->last);
    return status;
}
