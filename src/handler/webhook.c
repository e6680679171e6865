/* Sending an event to a webhook. */
#include "handler/webhook.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"

static const char prefix[] = "whsec_";

/* The key's bytes: the base64 after whsec_ decoded, or the text itself. */
static pawl_status read_secret(const char *secret, uint8_t *key, size_t *len, pawl_error *err) {
    size_t text_len = strlen(secret);
    uint8_t bytes[WEBHOOK_SECRET_BYTES_MAX * 2];
    int got = -1;
    if (strncmp(secret, prefix, sizeof(prefix) - 1) != 0) {
        got = text_len <= WEBHOOK_SECRET_BYTES_MAX ? (int)text_len : -1;
        if (got > 0)
            memcpy(bytes, secret, (size_t)got);
    } else {
        const char *base64 = secret + sizeof(prefix) - 1;
        size_t base64_len = text_len - (sizeof(prefix) - 1);
        if (base64_len % 4 == 0 && base64_len / 4 * 3 <= sizeof(bytes))
            got = EVP_DecodeBlock(bytes, (const unsigned char *)base64, (int)base64_len);
        for (size_t i = base64_len; got > 0 && i > base64_len - 2 && base64[i - 1] == '='; i--)
            got--;
    }
    if (got < WEBHOOK_SECRET_BYTES_MIN || got > WEBHOOK_SECRET_BYTES_MAX)
        return error_set(err, PAWL_INVALID, "webhook",
                         "the secret is not usable: write whsec_ and the base64 of %d to %d bytes",
                         WEBHOOK_SECRET_BYTES_MIN, WEBHOOK_SECRET_BYTES_MAX);
    memcpy(key, bytes, (size_t)got);
    *len = (size_t)got;
    OPENSSL_cleanse(bytes, sizeof(bytes));
    return PAWL_OK;
}

pawl_status webhook_sign(const char *secret, pawl_str id, int64_t sent_at_s, pawl_str body,
                         struct arena *arena, char **signature, pawl_error *err) {
    uint8_t key[WEBHOOK_SECRET_BYTES_MAX], mac[EVP_MAX_MD_SIZE];
    char base64[EVP_MAX_MD_SIZE * 2];
    size_t key_len = 0;
    unsigned mac_len = 0;
    pawl_status status = read_secret(secret, key, &key_len, err);
    if (status != PAWL_OK)
        return status;
    struct buf signed_text;
    buf_init(&signed_text, 0);
    buf_append_str(&signed_text, id);
    buf_printf(&signed_text, ".%lld.", (long long)sent_at_s);
    buf_append_str(&signed_text, body);
    status = buf_status(&signed_text, "webhook", err);
    if (status == PAWL_OK && HMAC(EVP_sha256(), key, (int)key_len, (const unsigned char *)signed_text.ptr,
                                  signed_text.len, mac, &mac_len) == NULL)
        status = error_set(err, PAWL_INTERNAL, "webhook", "the signature cannot be computed");
    if (status == PAWL_OK) {
        EVP_EncodeBlock((unsigned char *)base64, mac, (int)mac_len);
        char *text = arena_printf(arena, "v1,%s", base64);
        if (text == NULL)
            status = error_no_memory(err, "webhook");
        else
            *signature = text;
    }
    buf_free(&signed_text);
    OPENSSL_cleanse(key, sizeof(key));
    return status;
}

static void add(struct http_header *headers, size_t *count, const char *name, pawl_str value) {
    if (!str_absent(value))
        headers[(*count)++] = (struct http_header){name, value};
}

pawl_status webhook_headers(const struct webhook_event *event, const char *secret, int64_t sent_at_s,
                            struct arena *arena, struct http_header headers[static WEBHOOK_HEADERS_MAX],
                            size_t *count, pawl_error *err) {
    size_t made = 0;
    char *signature = NULL, *stamp = NULL, *time = NULL;
    if (event->time_ms != 0) {
        time = arena_alloc(arena, CLOCK_ISO_BYTES);
        if (time == NULL)
            return error_no_memory(err, "webhook");
        clock_format_iso(event->time_ms, time);
    }
    add(headers, &made, "Content-Type", STR("application/json"));
    add(headers, &made, "ce-specversion", STR("1.0"));
    add(headers, &made, "ce-id", event->id);
    add(headers, &made, "ce-source", event->source);
    add(headers, &made, "ce-type", event->type);
    add(headers, &made, "ce-subject", event->subject);
    add(headers, &made, "ce-time", str_from(time));
    add(headers, &made, "traceparent", event->traceparent);
    if (secret != NULL) {
        pawl_status status = webhook_sign(secret, event->id, sent_at_s, event->body, arena, &signature, err);
        if (status != PAWL_OK)
            return status;
        stamp = arena_printf(arena, "%lld", (long long)sent_at_s);
        if (stamp == NULL)
            return error_no_memory(err, "webhook");
        add(headers, &made, "webhook-id", event->id);
        add(headers, &made, "webhook-timestamp", str_from(stamp));
        add(headers, &made, "webhook-signature", str_from(signature));
    }
    *count = made;
    return PAWL_OK;
}
