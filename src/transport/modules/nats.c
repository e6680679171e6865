/* NATS JetStream: CloudEvents in headers, the broker's own deduplication by Nats-Msg-Id. */
#include "transport/modules/nats.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"

/* The stream's answer: {"stream":…,"seq":…} or {"error":{"code":…,"description":…}}. */
static void judge(const struct nats_frame *answer, struct transport_result *result) {
    pawl_str text = answer->data;
    if (answer->status == NATS_NO_RESPONDERS)
        transport_result_set(result, FATE_REFUSED, "no stream takes this subject");
    else if (memmem(text.ptr, text.len, "\"error\":", 8) != NULL) /* a stream may have that name */
        transport_result_set(
            result, memmem(text.ptr, text.len, "exceeds maximum", 15) != NULL ? FATE_REJECTED : FATE_REFUSED,
            "the broker says: %.*s", text.len < 200 ? (int)text.len : 200, text.ptr);
    else if (memmem(text.ptr, text.len, "\"seq\":", 6) != NULL)
        transport_result_confirm(result);
    else
        transport_result_set(result, FATE_REFUSED, "the broker's answer is not understood: %.*s",
                             text.len < 150 ? (int)text.len : 150, text.ptr);
}

/* A header is a line: line ends inside a value become blanks, which means the same in JSON. */
static void put_header(struct buf *out, const char *name, pawl_str value) {
    buf_append_cstr(out, name);
    buf_append(out, ": ", 2);
    if (memchr(value.ptr, '\n', value.len) == NULL && memchr(value.ptr, '\r', value.len) == NULL)
        buf_append_str(out, value);
    else
        for (size_t i = 0; i < value.len; i++)
            buf_append_char(out, value.ptr[i] == '\n' || value.ptr[i] == '\r' ? ' ' : value.ptr[i]);
    buf_append(out, "\r\n", 2);
}

static void put_headers(struct buf *out, const struct event *event) {
    struct event_attribute attributes[EVENT_ATTRIBUTES_MAX];
    size_t count = event_attributes(event, attributes);
    buf_reset(out);
    buf_append_cstr(out, "NATS/1.0\r\n");
    for (size_t i = 0; i < count; i++) {
        char name[EVENT_HEADER_BYTES];
        put_header(out, event_header("ce-", attributes[i].name, name), attributes[i].value);
    }
    put_header(out, "Nats-Msg-Id", event->id);
    buf_append(out, "\r\n", 2);
}

/* Words with dots between them, and no wildcard. */
static bool is_subject(pawl_str text) {
    pawl_str word;
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == '\x7f')
            return false;
    }
    bool good = text.len > 0 && text.ptr[0] != '.' && text.ptr[text.len - 1] != '.';
    while (good && str_next(&text, '.', &word))
        good = word.len > 0 && !str_equal_cstr(word, "*") && !str_equal_cstr(word, ">");
    return good;
}

/* Returns how many were sent; the others have their result. */
static size_t put_all(struct transport *session, const struct transport_message *messages, size_t count,
                      struct transport_result *results) {
    size_t sent = 0;
    session->call++;
    for (size_t i = 0; i < count; i++) {
        char reply[NATS_SUBJECT_BYTES];
        const struct event *event = &messages[i].event;
        put_headers(&session->headers, event);
        if (!is_subject(messages[i].destination)) {
            transport_result_set(&results[i], FATE_REJECTED, "the destination is not a subject");
            continue;
        }
        if (session->headers.len + event->data.len > (size_t)session->payload_bytes_max) {
            transport_result_set(&results[i], FATE_REJECTED,
                                 "the message is larger than the broker's limit of %lld bytes",
                                 (long long)session->payload_bytes_max);
            continue;
        }
        nats_answer_subject(session, i, reply);
        nats_put(session, messages[i].destination, reply, event->data);
        sent++;
    }
    return sent;
}

/* Refuses the first open message to a subject: the broker denies one after the other. False: there is none.
 */
static bool refuse(pawl_str subject, const struct transport_message *messages, size_t count,
                   struct transport_result *results, const char *reason) {
    for (size_t i = 0; i < count; i++) {
        if (results[i].fate == FATE_UNAVAILABLE && str_equal(messages[i].destination, subject)) {
            transport_result_set(&results[i], FATE_REFUSED, "%s", reason);
            return true;
        }
    }
    return false;
}

static pawl_status nats_session_publish(struct transport *session, const struct transport_message *messages,
                                        size_t count, struct transport_result *results, pawl_error *err) {
    transport_results_unknown(results, count, "the broker did not confirm it");
    int64_t until_ms = clock_boot_ms() + session->confirm_ms;
    size_t open = put_all(session, messages, count, results);
    pawl_status status = nats_flush(session, until_ms, err);
    while (status == PAWL_OK && open > 0) {
        struct nats_frame answer = {.sid = 0};
        size_t number = 0;
        status = nats_next(session, until_ms, &answer, err);
        if (status == PAWL_INVALID && refuse(answer.denied, messages, count, results, err->text)) {
            status = PAWL_OK;
            open--;
        } else if (status == PAWL_OK && nats_is_answer(session, &answer, &number) && number < count &&
                   results[number].fate == FATE_UNAVAILABLE) {
            judge(&answer, &results[number]);
            open--;
        } else if (status == PAWL_OK) {
            status = nats_in_time(until_ms, err);
        }
    }
    return transport_late(status, "nats", "the broker did not confirm in time", err);
}

__attribute__((visibility("default"))) const struct transport_module pawl_transport_module = {
    .abi = TRANSPORT_ABI,
    .name = "nats",
    .keeps_order = false,
    .session_bytes = sizeof(struct transport),
    .port = 4222,
    .tls_port = 4222,
    .open = nats_session_open,
    .publish = nats_session_publish,
    .subscribe = nats_session_subscribe,
    .receive = nats_session_receive,
    .acknowledge = nats_session_acknowledge,
    .close = nats_session_close,
};
