/* Fuzzes JSON-RPC: what clients send to our MCP server, and what MCP servers answer our client. */
#include <string.h>

#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "fuzz.h"
#include "handler/mcp/int.h"
#include "mcp/mcp.h"

static void must_be_message(struct buf *out) {
    pawl_str text = str_trim(buf_str(out));
    must(!out->failed && memchr(text.ptr, '\n', text.len) == NULL);
    must(json_valid(text, PAWL_JSON_DEPTH_MAX, NULL));
}

/* A call of a tool would need a store: only its arguments are read. */
static void fuzz_server(pawl_str text, uint8_t flags) {
    struct arena *arena = arena_create(0);
    struct mcp_peer peer = {.role = ROLE_OPERATOR, .remembers = flags & 1, .greeted = flags & 2};
    struct mcp_headers headers = {
        .version = flags & 8 ? "2026-07-28" : NULL, .method = "tools/call", .name = "job_show"};
    struct mcp_message message;
    mcp_message_read(&message, &peer, flags & 4 ? &headers : NULL, arena, text);
    const struct operation *tool = NULL;
    const struct tree *name = tree_get_cstr(message.params, "name");
    bool calls = str_equal_cstr(message.method, "tools/call") ||
                 str_equal_cstr(message.method, "resources/read");
    if (name != NULL && name->kind == TREE_STRING)
        tool = mcp_tool_find(name->text);
    if (message.waits && !calls) {
        mcp_message_step(&message, &(struct request){.store = NULL});
        must(message.out.len > 0 && !message.waits);
    } else if (message.waits && tool != NULL) {
        pawl_error err = {0};
        pawl_status status = mcp_arguments(&message, tool, tree_get_cstr(message.params, "arguments"), &err);
        must(status == PAWL_OK || err.text[0] != '\0');
    }
    must(message.waits || message.out.len > 0 || message.status == 202);
    if (message.out.len > 0)
        must_be_message(&message.out);
    mcp_message_free(&message);
    arena_free(arena);
}

static void fuzz_client(pawl_str text) {
    struct mcp_config config = {.name = "fuzz"};
    struct mcp_session session = {.config = &config, .last_id = 9, .scratch = arena_create(0)};
    struct mcp_exchange exchange = {.id = 7, .method = "tools/call", .arena = arena_create(0)};
    AUTO_BUF(reply, 0);
    bool mine = false;
    pawl_error err = {0};
    pawl_status status = mcp_take(&session, &exchange, text, &reply, &mine, &err);
    must(status == PAWL_OK ? mine == (exchange.answer != NULL) : err.text[0] != '\0');
    must(status != PAWL_UNAVAILABLE || session.broken);
    if (reply.len > 0)
        must_be_message(&reply);
    arena_free(session.scratch);
    arena_free(exchange.arena);
}

/* The first byte says what is known of the client. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    pawl_str text = {(const char *)data + 1, size - 1};
    fuzz_server(text, data[0]);
    fuzz_client(text);
    return 0;
}
