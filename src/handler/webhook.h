/* Sending an event to a webhook: CloudEvents headers (binary mode), signed as Standard Webhooks. */
#ifndef HANDLER_WEBHOOK_H
#define HANDLER_WEBHOOK_H

#include "http/http.h"

enum { WEBHOOK_HEADERS_MAX = 16, WEBHOOK_SECRET_BYTES_MAX = 64, WEBHOOK_SECRET_BYTES_MIN = 16 };

struct webhook_event {
    pawl_str id;     /* stable over retries */
    pawl_str source; /* "/pawl/<service>" */
    pawl_str type;
    pawl_str subject;     /* absent = none; the stream */
    pawl_str traceparent; /* absent = none */
    int64_t time_ms;      /* when it happened; 0 = left out */
    pawl_str body;        /* JSON */
};

/*
 * Writes the headers of the event into `headers` (room for WEBHOOK_HEADERS_MAX), texts in the arena. With a
 * secret
 * ("whsec_" and base64, or plain text of 16 to 64 bytes) the three headers of the signature are among them;
 * sent_at_s is the time of this attempt, by the wall clock. PAWL_INVALID: the secret cannot be used.
 */
PAWL_MUSTCHECK pawl_status webhook_headers(const struct webhook_event *event, const char *secret,
                                           int64_t sent_at_s, struct arena *arena,
                                           struct http_header headers[static WEBHOOK_HEADERS_MAX],
                                           size_t *count, pawl_error *err);

/* "v1,<base64>" of id.timestamp.body under the secret, in the arena. */
PAWL_MUSTCHECK pawl_status webhook_sign(const char *secret, pawl_str id, int64_t sent_at_s, pawl_str body,
                                        struct arena *arena, char **signature, pawl_error *err);

#endif
