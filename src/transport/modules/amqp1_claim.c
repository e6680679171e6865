/* Authentication for Azure Service Bus: a signed token, sent over $cbs before a link is opened. */
#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "pawl.h"
#include "transport/modules/amqp1.h"

/* A shared access signature, which proves a key to Azure Service Bus, for the audience. False: it does not
 * fit, or there is no HMAC. */
static bool make_token(const struct transport *session, const char *audience, char *token, size_t size) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    char base64[64];
    unsigned digest_len = 0;
    struct buf text, made;
    int64_t expiry = clock_wall_ms() / 1000 + session->token_ms / 1000;
    buf_init(&text, 0);
    buf_init(&made, size - 1);
    percent_encode(&text, str_from(audience));
    buf_printf(&made, "SharedAccessSignature sr=%s&sig=", text.ptr);
    buf_printf(&text, "\n%" PRId64, expiry);
    bool good = HMAC(EVP_sha256(), session->sas_key, (int)strlen(session->sas_key),
                     (const unsigned char *)text.ptr, text.len, digest, &digest_len) != NULL;
    EVP_EncodeBlock((unsigned char *)base64, digest, (int)digest_len);
    percent_encode(&made, str_from(base64));
    buf_printf(&made, "&se=%" PRId64 "&skn=", expiry);
    percent_encode(&made, str_from(session->sas_name));
    good = good && !text.failed && !made.failed;
    if (good)
        memcpy(token, made.ptr, made.len + 1);
    buf_free(&text);
    buf_free(&made);
    return good;
}

/* The token goes to $cbs as a message; the answer has a status code in its application properties. */
static pn_message_t *token_message(const char *token, const char *audience, const char *reply_to) {
    pn_message_t *message = pn_message();
    pn_data_t *properties = pn_message_properties(message);
    pn_atom_t id = {.type = PN_STRING, .u.as_bytes = pn_bytes(1, "1")};
    pn_message_set_id(message, id);
    pn_message_set_reply_to(message, reply_to);
    pn_data_put_map(properties);
    pn_data_enter(properties);
    amqp1_put_text(properties, STR("operation"));
    amqp1_put_text(properties, STR("put-token"));
    amqp1_put_text(properties, STR("type"));
    amqp1_put_text(properties, STR("servicebus.windows.net:sastoken"));
    amqp1_put_text(properties, STR("name"));
    amqp1_put_text(properties, str_from(audience));
    pn_data_exit(properties);
    pn_data_put_string(pn_message_body(message), pn_bytes(strlen(token), token));
    return message;
}

static int status_code_of(const char *bytes, size_t size) {
    pn_message_t *message = pn_message();
    int found = 0;
    if (pn_message_decode(message, bytes, size) == 0) {
        pn_data_t *properties = pn_message_properties(message);
        pn_data_rewind(properties);
        if (pn_data_next(properties) && pn_data_type(properties) == PN_MAP && pn_data_enter(properties)) {
            while (pn_data_next(properties)) {
                pn_bytes_t name = pn_data_type(properties) == PN_STRING ? pn_data_get_string(properties)
                                                                        : pn_bytes(0, "");
                bool wanted = name.size == 11 && memcmp(name.start, "status-code", 11) == 0;
                if (!pn_data_next(properties))
                    break;
                if (wanted && pn_data_type(properties) == PN_INT)
                    found = pn_data_get_int(properties);
                if (wanted && pn_data_type(properties) == PN_LONG)
                    found = (int)pn_data_get_long(properties);
            }
        }
    }
    pn_message_free(message);
    return found;
}

static pawl_status await_token_answer(struct transport *session, pn_link_t *answers, pawl_error *err) {
    int64_t until_ms = clock_boot_ms() + session->confirm_ms;
    pn_link_flow(answers, 1);
    while (true) {
        pn_delivery_t *delivery = pn_link_current(answers);
        if (delivery != NULL && pn_delivery_readable(delivery) && !pn_delivery_partial(delivery)) {
            char bytes[2048];
            ssize_t got = pn_link_recv(answers, bytes, sizeof(bytes));
            pn_link_advance(answers);
            pn_delivery_update(delivery, PN_ACCEPTED);
            pn_delivery_settle(delivery);
            int code = got > 0 ? status_code_of(bytes, (size_t)got) : 0;
            if (code >= 200 && code < 300)
                return PAWL_OK;
            return error_set(err, PAWL_INVALID, "amqp1",
                             "the broker refuses the shared access key (status %d)", code);
        }
        pawl_status status = amqp1_turn(session, until_ms, err);
        if (status != PAWL_OK)
            return transport_late(status, "amqp1", "$cbs does not answer", err);
    }
}

/* Takes ownership of the message. */
static pawl_status send_token(struct transport *session, pn_link_t *sender, pn_link_t *answers,
                              pn_message_t *message, pawl_error *err) {
    pawl_status status = amqp1_await_link(session, sender, err);
    if (status == PAWL_OK)
        status = amqp1_await_link(session, answers, err);
    if (status == PAWL_OK)
        status = amqp1_await_credit(session, sender, err);
    if (status == PAWL_OK) {
        size_t size = amqp1_encode(session, message);
        pn_delivery_t *delivery = size > 0 ? amqp1_send_encoded(session, sender, size) : NULL;
        if (delivery == NULL)
            status = error_no_memory(err, "amqp1");
        else
            pn_delivery_settle(delivery);
    }
    pn_message_free(message);
    return status;
}

/* Service Bus needs a fresh token from time to time for every entity; one for the namespace covers them all.
 * It is renewed after half of its lifetime. */
pawl_status amqp1_put_token(struct transport *session, pawl_error *err) {
    if (session->sas_key == NULL ||
        (session->sas_ms != 0 && clock_boot_ms() - session->sas_ms < session->token_ms / 2))
        return PAWL_OK;
    char audience[300], token[1024], name[48];
    snprintf(audience, sizeof(audience), "amqp://%s/", session->address.host);
    if (!make_token(session, audience, token, sizeof(token)))
        return error_set(err, PAWL_INVALID, "amqp1", "no token can be made from the shared access key");
    snprintf(name, sizeof(name), "pawl-cbs-%llu", (unsigned long long)++session->sent);
    pn_link_t *sender = pn_sender(session->session, name);
    pn_terminus_set_address(pn_link_target(sender), "$cbs");
    pn_link_open(sender);
    snprintf(name, sizeof(name), "pawl-cbs-%llu", (unsigned long long)++session->sent);
    pn_link_t *answers = pn_receiver(session->session, name);
    pn_terminus_set_address(pn_link_source(answers), "$cbs");
    pn_terminus_set_address(pn_link_target(answers), name);
    pn_link_open(answers);
    int64_t now_ms = clock_boot_ms();
    pawl_status status = send_token(session, sender, answers, token_message(token, audience, name), err);
    if (status == PAWL_OK)
        status = await_token_answer(session, answers, err);
    if (!session->broken && !session->ended) {
        pn_link_close(sender);
        pn_link_close(answers);
        pn_link_free(sender);
        pn_link_free(answers);
    }
    if (status == PAWL_OK)
        session->sas_ms = now_ms;
    return status;
}
