/* JSON-RPC messages as MCP uses them: classifying what arrived, and finding the answer. */
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/str.h"
#include "handler/mcp/int.h"

pawl_status mcp_fault(struct mcp_session *session, const char *what, pawl_error *err) {
    session->broken = true;
    return error_set(err, PAWL_UNAVAILABLE, "mcp", "the server %s does not keep to the protocol: %s",
                     session->config->name, what);
}

pawl_status mcp_count(struct mcp_session *session, struct mcp_exchange *exchange, size_t bytes,
                      pawl_error *err) {
    exchange->bytes += bytes;
    if (exchange->bytes > MCP_CALL_BYTES_MAX)
        return mcp_fault(session, "it says more than 32 MiB while one request waits", err);
    return PAWL_OK;
}

/* Requests from the server are refused: this client does not support sampling, elicitation or roots. A ping
 * is answered. */
static pawl_status refuse(struct mcp_session *session, struct mcp_exchange *exchange,
                          const struct tree *message, const struct tree *id, struct buf *reply,
                          pawl_error *err) {
    if (++exchange->requests > MCP_REQUESTS_MAX)
        return mcp_fault(session, "it sends more than 100 requests while one of ours waits", err);
    if (id->kind != TREE_STRING && id->kind != TREE_NUMBER)
        return mcp_fault(session, "a request of its has an id that is neither text nor a number", err);
    const struct tree *method = tree_get_cstr(message, "method");
    buf_append_cstr(reply, "{\"jsonrpc\":\"2.0\",\"id\":");
    tree_write(reply, id);
    if (str_equal_cstr(method->text, "ping"))
        buf_append_cstr(reply, ",\"result\":{}}\n");
    else
        buf_append_cstr(reply, ",\"error\":{\"code\":-32601,\"message\":\"pawl serves no requests\"}}\n");
    return buf_status(reply, "mcp", err);
}

static void notice(struct mcp_session *session, pawl_str method) {
    if (str_equal_cstr(method, "notifications/tools/list_changed"))
        session->tools_changed = true;
}

/* Whether the id is that of the exchange; an earlier one of ours is a late answer to a request that was given
 * up. */
static pawl_status check_id(struct mcp_session *session, const struct mcp_exchange *exchange,
                            const struct tree *id, bool *mine, pawl_error *err) {
    int64_t number = 0;
    if (id == NULL || id->kind == TREE_NULL)
        return mcp_fault(session, "it answers with an error that belongs to no request", err);
    if (!tree_to_i64(id, &number) || number < 1 || number > session->last_id)
        return mcp_fault(session, "it answers a request that was not made", err);
    *mine = exchange->id != 0 && number == exchange->id;
    return PAWL_OK;
}

pawl_status mcp_take(struct mcp_session *session, struct mcp_exchange *exchange, pawl_str text,
                     struct buf *reply, bool *mine, pawl_error *err) {
    const struct tree *message = NULL;
    pawl_error why = {0};
    char reason[512];
    *mine = false;
    text = str_trim(text);
    if (text.len == 0)
        return PAWL_OK;
    if (++exchange->messages > MCP_MESSAGES_MAX)
        return mcp_fault(session, "it sends more than 10,000 messages while one request waits", err);
    arena_reset(session->scratch);
    if (tree_parse(session->scratch, text, NULL, &message, &why) != PAWL_OK) {
        snprintf(reason, sizeof(reason), "a message is not JSON (%.400s)", why.text);
        return mcp_fault(session, reason, err);
    }
    const struct tree *version = tree_get_cstr(message, "jsonrpc");
    if (message->kind != TREE_OBJECT || version == NULL || !str_equal_cstr(version->text, "2.0"))
        return mcp_fault(session, "a message is not an object of JSON-RPC 2.0", err);
    const struct tree *method = tree_get_cstr(message, "method");
    const struct tree *id = tree_get_cstr(message, "id");
    if (method != NULL) {
        if (method->kind != TREE_STRING)
            return mcp_fault(session, "a method is not text", err);
        if (id != NULL)
            return refuse(session, exchange, message, id, reply, err);
        notice(session, method->text);
        return PAWL_OK;
    }
    const struct tree *result = tree_get_cstr(message, "result");
    const struct tree *error = tree_get_cstr(message, "error");
    if ((result == NULL) == (error == NULL))
        return mcp_fault(session, "an answer has not exactly one of result and error", err);
    if ((result != NULL && result->kind != TREE_OBJECT) || (error != NULL && error->kind != TREE_OBJECT))
        return mcp_fault(session, "the result or the error of an answer is not an object", err);
    pawl_status status = check_id(session, exchange, id, mine, err);
    if (status == PAWL_OK && *mine)
        status = tree_parse(exchange->arena, text, NULL, &exchange->answer, err);
    return status;
}

static bool survives(pawl_str text) {
    if (text.len == 0 || str_trim(text).len != text.len || str_starts_with(text, STR("=?base64?")))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c != '\t' && (c < 0x20 || c > 0x7E))
            return false;
    }
    return true;
}

pawl_status mcp_header_value(struct arena *arena, pawl_str text, pawl_str *value, pawl_error *err) {
    if (survives(text))
        return str_dup(arena, text, value, err);
    size_t base64_bytes = (text.len + 2) / 3 * 4 + 1;
    char *base64 = arena_alloc(arena, base64_bytes);
    char *made = NULL;
    if (base64 != NULL) {
        EVP_EncodeBlock((unsigned char *)base64, (const unsigned char *)text.ptr, (int)text.len);
        made = arena_printf(arena, "=?base64?%s?=", base64);
    }
    if (made == NULL)
        return error_no_memory(err, "mcp");
    *value = str_from(made);
    return PAWL_OK;
}

/* Descends through properties only, as the protocol specifies. */
static pawl_status params_of(struct arena *arena, const struct tree *schema, const struct tree *value,
                             struct http_header *headers, size_t *count, pawl_error *err) {
    const struct tree *wanted = tree_get_cstr(schema, "x-mcp-header");
    if (wanted != NULL && wanted->kind == TREE_STRING && value->kind != TREE_NULL &&
        value->kind != TREE_ARRAY && value->kind != TREE_OBJECT && *count < HTTP_HEADERS_MAX / 2) {
        pawl_str text = value->text;
        if (value->kind == TREE_TRUE || value->kind == TREE_FALSE)
            text = value->kind == TREE_TRUE ? STR("true") : STR("false");
        pawl_str encoded = {NULL, 0};
        pawl_status status = mcp_header_value(arena, text, &encoded, err);
        char *name = arena_printf(arena, "Mcp-Param-%.*s", STR_ARG(wanted->text));
        if (status != PAWL_OK)
            return status;
        if (name == NULL)
            return error_no_memory(err, "mcp");
        headers[(*count)++] = (struct http_header){name, encoded};
    }
    const struct tree *properties = tree_get_cstr(schema, "properties");
    pawl_status status = PAWL_OK;
    for (size_t i = 0; properties != NULL && properties->kind == TREE_OBJECT && i < properties->count; i++) {
        const struct tree *member = tree_get(value, properties->items[i]->key);
        if (member != NULL && status == PAWL_OK)
            status = params_of(arena, properties->items[i], member, headers, count, err);
    }
    return status;
}

pawl_status mcp_param_headers(struct arena *arena, const struct mcp_call *call, struct http_header *headers,
                              size_t *count, pawl_error *err) {
    *count = 0;
    return params_of(arena, call->tool->input, call->arguments, headers, count, err);
}
