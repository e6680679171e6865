/* NATS: the connection and its protocol, which is lines of text (docs.nats.io, "Client Protocol"). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "transport/modules/nats.h"
#include "transport/wire.h"

enum {
    READ_BYTES = 65536,
    IN_BYTES_MAX = 128 << 20,
    ANSWERS_SID = 1,
    HEADER_START_BYTES = 8 /* NATS/1.0 */
};

static pawl_status read_more(struct transport *session, int64_t until_ms, pawl_error *err) {
    if (session->in_at > 0) {
        session->in_len -= session->in_at;
        memmove(session->in, session->in + session->in_at, session->in_len);
        session->in_at = 0;
    }
    if (session->in_size - session->in_len < READ_BYTES) {
        size_t size = session->in_size > 0 ? session->in_size * 2 : 2 * READ_BYTES;
        char *larger = size <= IN_BYTES_MAX ? realloc(session->in, size) : NULL;
        if (larger == NULL)
            return error_no_memory(err, "nats");
        session->in = larger;
        session->in_size = size;
    }
    size_t got = 0;
    pawl_status status = wire_read(session->wire, session->in + session->in_len,
                                   session->in_size - session->in_len, until_ms, &got, err);
    session->in_len += status == PAWL_OK ? got : 0;
    return status;
}

/* MSG subject sid [reply] bytes, or HMSG subject sid [reply] header-bytes bytes, and then the bytes. False:
 * it is not such a line. */
static bool read_sizes(pawl_str line, struct nats_frame *frame, uint64_t *header_bytes, uint64_t *bytes) {
    pawl_str words[6];
    size_t count = 0, sizes = str_starts_with(line, STR("HMSG ")) ? 2 : 1;
    while (count < 6 && str_next(&line, ' ', &words[count]))
        count++;
    if (count != 3 + sizes && count != 4 + sizes)
        return false;
    frame->subject = words[1];
    frame->reply = count == 4 + sizes ? words[3] : (pawl_str){NULL, 0};
    *header_bytes = 0;
    return str_to_u64(words[2], UINT64_MAX, &frame->sid) &&
           str_to_u64(words[count - 1], IN_BYTES_MAX, bytes) &&
           (sizes == 1 || str_to_u64(words[count - 2], *bytes, header_bytes));
}

/* "NATS/1.0[ 503[ text]]" and then the headers. */
static void read_headers(pawl_str block, struct nats_frame *frame) {
    pawl_str line = str_trim(str_before(block, '\n', &frame->headers));
    pawl_str status = str_trim(str_skip(line, HEADER_START_BYTES));
    if (!str_to_i64(str_before(status, ' ', NULL), 0, 999, &frame->status))
        frame->status = 0;
}

static pawl_status said(pawl_str line, pawl_error *err) {
    static const char *const ours[] = {"uthoriz", "uthentic", "Permissions", "TLS"};
    pawl_status status = PAWL_UNAVAILABLE;
    for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
        status = memmem(line.ptr, line.len, ours[i], strlen(ours[i])) != NULL ? PAWL_INVALID : status;
    return error_set(err, status, "nats", "the broker says: %.*s", STR_ARG(line));
}

/* "'Permissions Violation for Publish to "subject"'" */
static pawl_str denied_subject(pawl_str words) {
    pawl_str start = STR("'Permissions Violation for Publish to \"");
    return str_starts_with(words, start) ? str_before(str_skip(words, start.len), '"', NULL) : STR("");
}

/* One line of what was received, and for a message what follows it. */
struct line {
    pawl_str text;
    bool message;
    pawl_str raw; /* all of it; empty: its end is missing */
};

static pawl_status read_line(pawl_str have, struct line *line, struct nats_frame *frame, pawl_error *err) {
    const char *end = have.len > 0 ? memchr(have.ptr, '\n', have.len) : NULL;
    uint64_t header_bytes = 0, bytes = 0;
    *line = (struct line){.message = false};
    *frame = (struct nats_frame){.sid = 0};
    if (end == NULL)
        return PAWL_OK;
    size_t len = (size_t)(end - have.ptr) + 1;
    line->text = str_trim((pawl_str){have.ptr, len});
    line->message = str_starts_with(line->text, STR("MSG ")) || str_starts_with(line->text, STR("HMSG "));
    if (line->message) {
        if (!read_sizes(line->text, frame, &header_bytes, &bytes))
            return error_set(err, PAWL_UNAVAILABLE, "nats", "the broker does not speak the NATS protocol");
        frame->data = (pawl_str){end + 1 + header_bytes, (size_t)(bytes - header_bytes)};
        len += (size_t)bytes + 2; /* and its line end */
    }
    if (have.len < len)
        return PAWL_OK;
    line->raw = (pawl_str){have.ptr, len};
    if (header_bytes > 0)
        read_headers((pawl_str){end + 1, (size_t)header_bytes}, frame);
    if (!str_starts_with(line->text, STR("-ERR")))
        return PAWL_OK;
    pawl_str words = str_trim(str_skip(line->text, 4));
    frame->denied = denied_subject(words);
    return said(words, err);
}

/* The first line says what the server is; later ones what has changed, such as the limit of our account. */
static pawl_status read_info(struct transport *session, pawl_str text, pawl_error *err) {
    const struct tree *info = NULL;
    struct arena *arena = arena_create(0);
    pawl_status status = tree_parse(arena, text, NULL, &info, err);
    if (status == PAWL_OK) {
        if (!tree_to_i64(tree_get_cstr(info, "max_payload"), &session->payload_bytes_max))
            session->payload_bytes_max = IN_BYTES_MAX;
        session->has_headers = tree_get_true(info, "headers");
        session->wants_tls = tree_get_true(info, "tls_required");
        session->offers_tls = session->wants_tls || tree_get_true(info, "tls_available");
    } else {
        status = error_set(err, PAWL_UNAVAILABLE, "nats", "the broker does not speak the NATS protocol");
    }
    arena_free(arena);
    return status;
}

static pawl_status take_line(struct transport *session, int64_t until_ms, struct line *line,
                             struct nats_frame *frame, pawl_error *err) {
    while (true) {
        pawl_status status = read_line(
            (pawl_str){session->in + session->in_at, session->in_len - session->in_at}, line, frame, err);
        session->in_at += line->raw.len;
        if (status == PAWL_OK && str_equal_cstr(line->text, "PING"))
            status = wire_write(session->wire, "PONG\r\n", 6, clock_boot_ms() + session->confirm_ms, err);
        if (status == PAWL_OK && str_starts_with(line->text, STR("INFO ")))
            status = read_info(session, str_skip(line->text, 5), err);
        if (status != PAWL_OK || line->raw.len > 0)
            return status;
        status = read_more(session, until_ms, err);
        if (status != PAWL_OK)
            return status;
    }
}

pawl_status nats_in_time(int64_t until_ms, pawl_error *err) {
    return clock_boot_ms() < until_ms ? PAWL_OK : error_set(err, PAWL_BUSY, "nats", "no answer in time");
}

pawl_status nats_next(struct transport *session, int64_t until_ms, struct nats_frame *frame,
                      pawl_error *err) {
    struct line line;
    if (session->kept_at == session->kept.len) {
        buf_reset(&session->kept);
        session->kept_at = 0;
    } else {
        pawl_status status =
            read_line(str_skip(buf_str(&session->kept), session->kept_at), &line, frame, err);
        session->kept_at += line.raw.len;
        return status;
    }
    pawl_status status = take_line(session, until_ms, &line, frame, err);
    while (status == PAWL_OK && !line.message) {
        status = nats_in_time(until_ms, err);
        if (status == PAWL_OK)
            status = take_line(session, until_ms, &line, frame, err);
    }
    return status;
}

void nats_put(struct transport *session, pawl_str subject, const char *reply, pawl_str data) {
    struct buf *out = &session->out;
    size_t headers = session->headers.len;
    out->failed = out->failed || session->headers.failed; /* the next message resets its headers */
    buf_append_cstr(out, headers > 0 ? "HPUB " : "PUB ");
    buf_append_str(out, subject);
    if (headers > 0)
        buf_printf(out, " %s %zu %zu\r\n", reply, headers, headers + data.len);
    else
        buf_printf(out, " %s %zu\r\n", reply, data.len);
    buf_append_str(out, buf_str(&session->headers));
    buf_append_str(out, data);
    buf_append(out, "\r\n", 2);
}

pawl_status nats_flush(struct transport *session, int64_t until_ms, pawl_error *err) {
    pawl_status status = buf_status(&session->out, "nats", err);
    if (status == PAWL_OK)
        status = buf_status(&session->headers, "nats", err);
    if (status == PAWL_OK)
        status = wire_write(session->wire, session->out.ptr, session->out.len, until_ms, err);
    buf_reset(&session->out);
    return status;
}

void nats_answer_subject(const struct transport *session, size_t number,
                         char subject[static NATS_SUBJECT_BYTES]) {
    snprintf(subject, NATS_SUBJECT_BYTES, "%s.%llu.%zu", session->inbox, (unsigned long long)session->call,
             number);
}

bool nats_is_answer(const struct transport *session, const struct nats_frame *frame, size_t *number) {
    pawl_str text, inbox = str_from(session->inbox);
    uint64_t call, part;
    pawl_str name = str_before(str_skip(frame->subject, inbox.len + 1), '.', &text);
    if (!str_starts_with(frame->subject, inbox) || frame->sid != ANSWERS_SID ||
        !str_to_u64(name, UINT64_MAX, &call) || call != session->call || !str_to_u64(text, SIZE_MAX, &part))
        return false;
    *number = (size_t)part;
    return true;
}

pawl_status nats_ask(struct transport *session, pawl_str subject, pawl_str question,
                     struct nats_frame *answer, pawl_error *err) {
    char reply[NATS_SUBJECT_BYTES];
    int64_t until_ms = clock_boot_ms() + session->confirm_ms;
    size_t number = 0;
    session->call++;
    nats_answer_subject(session, 0, reply);
    buf_reset(&session->headers);
    nats_put(session, subject, reply, question);
    pawl_status status = nats_flush(session, until_ms, err);
    while (true) {
        struct line line;
        if (status == PAWL_OK)
            status = take_line(session, until_ms, &line, answer, err);
        if (status != PAWL_OK)
            return transport_late(status, "nats", "no answer in time", err);
        if (line.message && nats_is_answer(session, answer, &number))
            break;
        if (line.message && answer->sid != ANSWERS_SID) { /* a reader still expects it */
            buf_append_str(&session->kept, line.raw);
            status = buf_status(&session->kept, "nats", err);
        }
        if (status == PAWL_OK)
            status = nats_in_time(until_ms, err);
    }
    if (answer->status == NATS_NO_RESPONDERS)
        return error_set(err, PAWL_UNAVAILABLE, "nats", "no JetStream answers");
    return PAWL_OK;
}

pawl_status nats_api(struct transport *session, const char *subject, pawl_str question,
                     const struct tree **answer, pawl_error *err) {
    char whole[1024];
    struct nats_frame frame = {.sid = 0};
    int made = snprintf(whole, sizeof(whole), "$JS.API.%s", subject);
    if (made < 0 || (size_t)made >= sizeof(whole))
        return error_set(err, PAWL_INVALID, "nats", "the names of stream and group are too long");
    arena_reset(session->answer);
    pawl_status status = nats_ask(session, str_from(whole), question, &frame, err);
    if (status == PAWL_OK) /* the tree may borrow, and the frame is good only for now */
        status = str_dup(session->answer, frame.data, &frame.data, err);
    if (status == PAWL_OK)
        status = tree_parse(session->answer, frame.data, NULL, answer, err);
    if (status != PAWL_OK)
        return status == PAWL_INVALID ? (err->status = PAWL_UNAVAILABLE) : status;
    const struct tree *fault = tree_get_cstr(*answer, "error");
    if (fault == NULL)
        return PAWL_OK;
    const struct tree *text = tree_get_cstr(fault, "description");
    return error_set(err, tree_get_i64(fault, "code") == 404 ? PAWL_NOT_FOUND : PAWL_UNAVAILABLE, "nats",
                     "the broker says: %.*s", STR_ARG(text != NULL ? text->text : STR("?")));
}

void nats_session_close(struct transport *session) {
    wire_close(session->wire);
    buf_free(&session->out);
    buf_free(&session->headers);
    buf_free(&session->last);
    buf_free(&session->kept);
    free(session->in);
    arena_free(session->answer);
}

/* The server speaks first: what it is, and whether TLS begins now. */
static pawl_status take_info(struct transport *session, const struct transport_config *config,
                             int64_t until_ms, pawl_error *err) {
    const struct address *address = &session->address;
    struct line line;
    struct nats_frame frame;
    pawl_status status = take_line(session, until_ms, &line, &frame, err);
    if (status != PAWL_OK)
        return status;
    if (!str_starts_with(line.text, STR("INFO ")))
        return error_set(err, PAWL_UNAVAILABLE, "nats", "the broker does not speak the NATS protocol");
    if (!session->has_headers)
        return error_set(err, PAWL_INVALID, "nats", "the broker has no message headers");
    if (address->tls && !session->offers_tls)
        return error_set(err, PAWL_INVALID, "nats", "the broker offers no TLS");
    if (address->tls && session->in_at < session->in_len) /* it would count as if it had come through TLS */
        return error_set(err, PAWL_INVALID, "nats", "the broker speaks before TLS");
    if (!address->tls && session->wants_tls)
        return error_set(err, PAWL_INVALID, "nats", "the broker wants TLS: use nats+tls://");
    return address->tls ? wire_secure(session->wire, config, address, until_ms, err) : PAWL_OK;
}

static void say_hello(struct transport *session) {
    const struct address *address = &session->address;
    struct json_writer json;
    buf_append_cstr(&session->out, "CONNECT ");
    json_writer_init(&json, &session->out);
    json_begin_object(&json);
    static const char *const yes[] = {"headers", "no_responders"}, *const no[] = {"verbose", "pedantic"};
    for (int i = 0; i < 2; i++) {
        json_put_bool(&json, yes[i], true);
        json_put_bool(&json, no[i], false);
    }
    json_put_int(&json, "protocol", 1);
    const char *const texts[][2] = {{"name", "pawl"},
                                    {"lang", "c"},
                                    {"user", address->password != NULL ? address->user : NULL},
                                    {address->user != NULL ? "pass" : "auth_token", address->password}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (texts[i][1] != NULL)
            json_put_cstr(&json, texts[i][0], texts[i][1]);
    }
    json_end_object(&json);
    /* The limits of our account follow the first PONG, so they are known when the second has come. */
    buf_printf(&session->out, "\r\nSUB %s.> %d\r\nPING\r\nPING\r\n", session->inbox, ANSWERS_SID);
}

static pawl_status greet(struct transport *session, const struct transport_config *config, pawl_error *err) {
    int64_t until_ms = clock_boot_ms() + config->connect_ms;
    char text[UUID_TEXT_BYTES];
    pawl_uuid id;
    pawl_status status = uuid_next(&id, err);
    if (status == PAWL_OK)
        status = take_info(session, config, until_ms, err);
    if (status != PAWL_OK)
        return status;
    snprintf(session->inbox, sizeof(session->inbox), "_INBOX.%s", uuid_format(id, text));
    say_hello(session);
    status = nats_flush(session, until_ms, err);
    struct line line = {.message = false};
    struct nats_frame frame;
    for (int pongs = 0; status == PAWL_OK && pongs < 2;) {
        status = take_line(session, until_ms, &line, &frame, err);
        pongs += status == PAWL_OK && str_equal_cstr(line.text, "PONG");
        if (status == PAWL_OK && pongs < 2)
            status = nats_in_time(until_ms, err);
    }
    return status;
}

pawl_status nats_session_open(struct transport *session, const struct transport_config *config,
                              pawl_error *err) {
    session->answer = arena_create(0);
    buf_init(&session->out, 0);
    buf_init(&session->headers, 0);
    buf_init(&session->last, 0);
    buf_init(&session->kept, 0);
    struct address plain = session->address;
    plain.tls = false; /* it begins after the server's first line */
    pawl_status status = wire_open(config, &plain, &session->wire, err);
    if (status == PAWL_OK)
        status = greet(session, config, err);
    return transport_late(status, "nats", "the broker does not answer", err);
}
