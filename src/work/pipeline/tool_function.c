/* Tools implemented by C functions (pawl_worker_tool). */
#include "work/pipeline/tool_function.h"

#include "base/error.h"
#include "base/str.h"

struct bridge {
    pawl_tool_fn function;
    void *self;
};

/* Where an answer goes. */
struct desk_of_answer {
    struct buf json;
};

void pawl_tool_answer(const pawl_tool_call *call, pawl_str json) {
    struct desk_of_answer *to = call->to;
    to->json.len = 0;
    buf_append(&to->json, json.ptr, json.len);
}

static pawl_status call_function(void *self, const struct tool_call *call, struct arena *arena,
                                 const struct tree **output, pawl_error *err) {
    const struct bridge *bridge = self;
    struct desk_of_answer to;
    struct buf arguments;
    buf_init(&arguments, 0);
    buf_init(&to.json, TOOLS_OUTPUT_BYTES_MAX);
    tree_write(&arguments, call->arguments);
    pawl_status status = buf_status(&arguments, "tools", err);
    pawl_tool_call given = {call->uses, buf_str(&arguments), call->idempotency_key, &to};
    if (status == PAWL_OK)
        status = bridge->function(&given, bridge->self, err);
    if (status == PAWL_OK)
        status = buf_status(&to.json, "tools", err);
    if (status == PAWL_OK)
        status = tree_parse(arena, to.json.len > 0 ? buf_str(&to.json) : STR("null"), NULL, output, err);
    buf_free(&arguments);
    buf_free(&to.json);
    return status;
}

pawl_status tool_function_add(struct tools *tools, struct arena *arena, const char *name,
                              pawl_tool_fn function, void *self, pawl_error *err) {
    struct bridge *bridge = arena_alloc(arena, sizeof(*bridge));
    char *copy = name != NULL ? arena_strdup(arena, name) : NULL;
    if (name == NULL || function == NULL)
        return error_set(err, PAWL_INVALID, "worker", "a tool in C needs a name and a function");
    if (bridge == NULL || copy == NULL)
        return error_set(err, PAWL_NO_MEMORY, "worker", "out of memory");
    *bridge = (struct bridge){function, self};
    struct tool_function_new put = {
        .name = copy, .description = "A function", .function = call_function, .self = bridge};
    return tools_add_function(tools, &put, err);
}
