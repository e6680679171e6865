/* Reading an MCP server's list of tools, page by page. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "handler/mcp/int.h"

static bool name_is_usable(const struct tree *name) {
    if (name == NULL || name->kind != TREE_STRING || name->text.len == 0 ||
        name->text.len > MCP_TOOL_NAME_BYTES_MAX)
        return false;
    for (size_t i = 0; i < name->text.len; i++) {
        if ((unsigned char)name->text.ptr[i] <= ' ' || name->text.ptr[i] == 0x7F)
            return false;
    }
    return true;
}

static pawl_status add_tool(struct mcp_session *session, const struct tree *object, struct mcp_tools *tools,
                            pawl_error *err) {
    const struct tree *name = tree_get_cstr(object, "name"), *input = tree_get_cstr(object, "inputSchema");
    struct buf text;
    if (tools->count == MCP_TOOLS_MAX)
        return mcp_fault(session, "it has more than 1,000 tools", err);
    if (object->kind != TREE_OBJECT || !name_is_usable(name))
        return mcp_fault(session, "a tool has no usable name", err);
    if (input == NULL || input->kind != TREE_OBJECT)
        return mcp_fault(session, "a tool has no schema for its arguments", err);
    for (size_t i = 0; i < tools->count; i++) {
        if (str_equal(tools->items[i].name, name->text))
            return mcp_fault(session, "two tools have the same name", err);
    }
    struct mcp_tool *tool = &tools->items[tools->count];
    *tool = (struct mcp_tool){.name = name->text,
                              .description = tree_get_text(object, "description"),
                              .input = input,
                              .object = object};
    buf_init(&text, MCP_TOOL_BYTES_MAX);
    tree_write_sorted(&text, object);
    pawl_status status = text.failed ? mcp_fault(session, "a tool is described with more than 256 KiB", err)
                                     : sha256_hex(buf_str(&text), tool->hash, err);
    buf_free(&text);
    if (status == PAWL_OK)
        tools->count++;
    return status;
}

pawl_status mcp_list(struct mcp_session *session, const struct stop_limit *wait, struct arena *arena,
                     struct mcp_tools *tools, pawl_error *err) {
    struct mcp_tools made = {arena_array(arena, MCP_TOOLS_MAX, sizeof(struct mcp_tool)), 0};
    pawl_str cursor = {NULL, 0};
    if (made.items == NULL)
        return error_no_memory(err, "mcp");
    session->tools_changed = false;
    pawl_status status = PAWL_OK;
    for (int page = 0; status == PAWL_OK && (page == 0 || !str_absent(cursor)); page++) {
        const struct tree *result = NULL;
        if (page == MCP_PAGES_MAX)
            return mcp_fault(session, "its list of tools has more than 100 pages", err);
        status = mcp_list_page(session, cursor, wait, arena, &result, err);
        const struct tree *list = tree_get_cstr(result, "tools");
        if (status == PAWL_OK && (list == NULL || list->kind != TREE_ARRAY))
            return mcp_fault(session, "its list of tools is no list", err);
        for (size_t i = 0; status == PAWL_OK && i < list->count; i++)
            status = add_tool(session, list->items[i], &made, err);
        pawl_str following = tree_get_text(result, "nextCursor");
        if (status == PAWL_OK && !str_absent(following) && !str_absent(cursor) &&
            str_equal(following, cursor))
            status = mcp_fault(session, "its list of tools goes in a circle", err);
        cursor = following;
    }
    if (status == PAWL_OK)
        *tools = made;
    return status;
}
