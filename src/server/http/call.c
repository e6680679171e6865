/* One request: its values, who asks, the audit. */
#include "server/http/call.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "operations/front/cursor.h"
#include "operations/front/fields.h"
#include "server/http/call_int.h"
#include "server/server.h"

struct value call_value(const struct call *call, const char *name) {
    return call->values[operation_input_find(call->route, name)]; /* one after the last is absent */
}

pawl_status call_cursor_check(struct call *call, struct value *value, pawl_error *err) {
    pawl_str key;
    if (!cursor_read(call->arena, operation_scope(call->arena, call->route, call->values), value->text, &key))
        return error_set(err, PAWL_INVALID, "http",
                         "cursor: it is not the `next` of an earlier page of this list with these filters; "
                         "start again without it");
    value->text = key;
    return PAWL_OK;
}

bool call_sees_content(const struct call *call) {
    return call->as != ROLE_VIEWER && !call->server->redact.all;
}

struct putter call_putter(struct call *call) {
    return (struct putter){call->server->tracer, str_from(call->traceparent), call->store, call->arena,
                           str_from(call->tracestate)};
}

pawl_str call_actor(struct call *call) {
    const char *role = role_name(call->as);
    const char *text = call->person != NULL ? arena_printf(call->arena, "http %s %.100s", role, call->person)
                                            : arena_printf(call->arena, "http %s", role);
    pawl_str actor = str_from(text);
    return utf8_valid(actor, false, NULL) && actor.len > 0 ? actor : STR("http");
}

pawl_status call_audit(struct call *call, pawl_error *err) {
    AUTO_BUF(detail, PAWL_HTTP_BODY_BYTES_MAX);
    operation_asked(call->route, call->values, &detail);
    pawl_str shown = detail.failed ? (pawl_str){NULL, 0}
                                   : utf8_cut(str_trim(buf_str(&detail)), PAWL_HTTP_AUDIT_BYTES_MAX);
    struct audit_row row = {
        .actor = call_actor(call), .action = str_from(call->route->name), .detail = shown};
    return call->store->ops->relay->audit_add(call->store, &row, err);
}

pawl_status call_request(const struct call *call, unsigned part, pawl_uuid *request, pawl_error *err) {
    *request = (pawl_uuid){{0}};
    if (str_absent(call->key))
        return PAWL_OK;
    uint8_t digest[SHA256_BYTES];
    const char *text = arena_printf(call->arena, "%s\n%u\n%.*s", call->route->name, part, STR_ARG(call->key));
    if (text == NULL)
        return error_set(err, PAWL_NO_MEMORY, "http", "no memory for a request key");
    TRY(sha256(str_from(text), digest, err));
    memcpy(request->b, digest, sizeof request->b);
    request->b[6] = (uint8_t)((request->b[6] & 0x0f) | 0x80); /* UUIDv8: our own derivation */
    request->b[8] = (uint8_t)((request->b[8] & 0x3f) | 0x80);
    return PAWL_OK;
}
