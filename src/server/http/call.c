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
#include "server/http/call_int.h"
#include "server/http/cursor.h"
#include "server/server.h"

const struct value *call_value(const struct call *call, const char *name) {
    static const struct value none = {.present = false};
    for (size_t i = 0; i < call->route->field_count; i++)
        if (strcmp(call->route->fields[i].name, name) == 0)
            return &call->values[i];
    return &none;
}

pawl_str call_cursor_scope(const struct call *call) {
    struct buf buf;
    buf_init(&buf, 0);
    buf_append_cstr(&buf, call->route->id);
    for (size_t i = 0; i < call->route->field_count; i++) {
        const struct field *field = &call->route->fields[i];
        if (field->type != FIELD_CURSOR && field->in != IN_BODY && strcmp(field->name, "limit") != 0 &&
            call->values[i].present)
            buf_printf(&buf, "\n%s=%.*s", field->name, STR_ARG(call->values[i].text));
    }
    pawl_str scope = {NULL, 0};
    pawl_error ignored;
    if (buf.failed || str_dup(call->arena, buf_str(&buf), &scope, &ignored) != PAWL_OK)
        scope = STR("?");
    buf_free(&buf);
    return scope;
}

pawl_status call_cursor_check(struct call *call, struct value *value, pawl_error *err) {
    pawl_str key;
    if (!cursor_read(call->arena, call_cursor_scope(call), value->text, &key))
        return error_set(err, PAWL_INVALID, "http",
                         "cursor: it is not the `next` of an earlier page of this list with these filters; "
                         "start again without it");
    value->text = key;
    return PAWL_OK;
}

bool call_sees_content(const struct call *call) {
    return call->as != CREDENTIAL_VIEWER && !call->server->redact.all;
}

struct putter call_putter(struct call *call) {
    return (struct putter){call->server->tracer, str_from(call->traceparent), call->store, call->arena,
                           str_from(call->tracestate)};
}

pawl_str call_actor(struct call *call) {
    const char *role = credential_name(call->as);
    const char *text = call->person != NULL ? arena_printf(call->arena, "http %s %.100s", role, call->person)
                                            : arena_printf(call->arena, "http %s", role);
    pawl_str actor = str_from(text);
    return utf8_valid(actor, false, NULL) && actor.len > 0 ? actor : STR("http");
}

/* A value for the audit; JSON may contain secrets and is left out. */
static void audit_value(struct buf *buf, const struct field *field, const struct value *value) {
    switch (field->type) {
    case FIELD_JSON:
    case FIELD_OBJECT:
    case FIELD_OBJECTS:
        return;
    case FIELD_TEXTS:
    case FIELD_INTS:
    case FIELD_UUIDS:
        buf_printf(buf, " %s=", field->name);
        tree_write(buf, value->tree);
        return;
    case FIELD_INT:
        buf_printf(buf, " %s=%" PRId64, field->name, value->number);
        return;
    case FIELD_BOOL:
        buf_printf(buf, " %s=%s", field->name, value->number != 0 ? "true" : "false");
        return;
    default:
        buf_printf(buf, " %s=%.*s", field->name, STR_ARG(value->text));
        return;
    }
}

pawl_status call_audit(struct call *call, pawl_error *err) {
    struct buf detail;
    buf_init(&detail, PAWL_HTTP_BODY_BYTES_MAX);
    buf_printf(&detail, "%s %s", method_name(call->route->method), call->route->path);
    for (size_t i = 0; i < call->route->field_count; i++)
        if (call->values[i].present)
            audit_value(&detail, &call->route->fields[i], &call->values[i]);
    pawl_str shown = detail.failed ? str_from(call->route->path)
                                   : utf8_cut(buf_str(&detail), PAWL_HTTP_AUDIT_BYTES_MAX);
    struct audit_row row = {.actor = call_actor(call), .action = str_from(call->route->id), .detail = shown};
    pawl_status status = call->store->ops->relay->audit_add(call->store, &row, err);
    buf_free(&detail);
    return status;
}

pawl_status call_request(const struct call *call, unsigned part, pawl_uuid *request, pawl_error *err) {
    *request = (pawl_uuid){{0}};
    if (str_absent(call->key))
        return PAWL_OK;
    uint8_t digest[SHA256_BYTES];
    const char *text = arena_printf(call->arena, "%s\n%u\n%.*s", call->route->id, part, STR_ARG(call->key));
    if (text == NULL)
        return error_set(err, PAWL_NO_MEMORY, "http", "no memory for a request key");
    pawl_status status = sha256(str_from(text), digest, err);
    if (status != PAWL_OK)
        return status;
    memcpy(request->b, digest, sizeof request->b);
    request->b[6] = (uint8_t)((request->b[6] & 0x0f) | 0x80); /* UUIDv8: our own derivation */
    request->b[8] = (uint8_t)((request->b[8] & 0x3f) | 0x80);
    return PAWL_OK;
}
