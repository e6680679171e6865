/* Building libmicrohttpd responses, with the headers common to all of them. */
#include "server/http/respond.h"

#include <string.h>

#include "server/access/sessions.h"
#include "server/http/assets.h"
#include "server/server.h"

static void add(struct MHD_Response *response, const char *name, const char *value) {
    if (value != NULL)
        (void)MHD_add_response_header(response, name, value); /* if memory runs out, the header is left out */
}

void respond_headers(struct exchange *exchange, struct MHD_Response *response) {
    add(response, "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'");
    add(response, "X-Content-Type-Options", "nosniff");
    add(response, "X-Frame-Options", "DENY");
    add(response, "Referrer-Policy", "no-referrer");
    add(response, "Cross-Origin-Opener-Policy", "same-origin");
    add(response, "Cross-Origin-Resource-Policy", "same-origin");
    add(response, "Permissions-Policy", "camera=(), geolocation=(), microphone=()");
    if (exchange->server->sessions->secure)
        add(response, "Strict-Transport-Security", "max-age=31536000");
}

static const char *type_of(const struct call *call) {
    if (call->type != NULL)
        return call->type;
    return call->route != NULL && call->route->shape == ANSWER_TEXT ? "text/plain; charset=utf-8"
                                                                    : "application/json";
}

enum MHD_Result respond(struct exchange *exchange) {
    struct call *call = &exchange->call;
    unsigned status = (unsigned)(call->status != 0                                 ? call->status
                                 : call->route != NULL && call->route->status != 0 ? call->route->status
                                                                                   : 200);
    call->status = (int)status;
    size_t len = call->out.len;
    void *bytes = len > 0 ? call->out.ptr : (void *)(uintptr_t) "";
    struct MHD_Response *response =
        MHD_create_response_from_buffer(len, bytes, len > 0 ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    if (response == NULL)
        return MHD_NO;
    if (len > 0)
        buf_init(&call->out, 0); /* its memory is the response's now */
    respond_headers(exchange, response);
    add(response, "Cache-Control", "no-store");
    if (len > 0)
        add(response, "Content-Type", type_of(call));
    add(response, "Allow", exchange->allow);
    add(response, "Retry-After", exchange->retry_after);
    add(response, "Location", call->location);
    add(response, "Set-Cookie", call->set_cookie);
    if (exchange->close)
        add(response, "Connection", "close");
    if (exchange->replayed)
        add(response, "Idempotent-Replayed", "true");
    if (status == 401)
        add(response, "WWW-Authenticate", "Bearer realm=\"pawl\"");
    enum MHD_Result result = MHD_queue_response(exchange->connection, status, response);
    MHD_destroy_response(response);
    return result;
}

enum MHD_Result respond_asset(struct exchange *exchange) {
    const struct asset *asset = exchange->asset;
    const char *encodings =
        MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, "Accept-Encoding");
    const char *known = MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, "If-None-Match");
    bool zipped = encodings != NULL && strstr(encodings, "gzip") != NULL;
    bool same = known != NULL && strstr(known, asset->etag) != NULL;
    const unsigned char *from = zipped ? asset->gzip : asset->plain;
    size_t len = (size_t)((zipped ? asset->gzip_end : asset->plain_end) - from);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(same ? 0 : len, (void *)(uintptr_t)from, MHD_RESPMEM_PERSISTENT);
    if (response == NULL)
        return MHD_NO;
    exchange->call.status = same ? 304 : 200;
    respond_headers(exchange, response);
    add(response, "Cache-Control", "no-cache");
    add(response, "ETag", asset->etag);
    add(response, "Vary", "Accept-Encoding");
    add(response, "Content-Type", asset->type);
    if (zipped && !same)
        add(response, "Content-Encoding", "gzip");
    enum MHD_Result result =
        MHD_queue_response(exchange->connection, (unsigned)exchange->call.status, response);
    MHD_destroy_response(response);
    return result;
}
