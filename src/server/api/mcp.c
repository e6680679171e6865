/* MCP over HTTP: one message per request. Nothing is remembered between requests, so there are no sessions.
 */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "mcp/mcp.h"
#include "server/http/call.h"

/* A message while its request lasts. */
struct call_mcp {
    struct mcp_peer peer;
    struct mcp_headers headers;
    struct mcp_message message;
};

void call_mcp_free(struct call *call) {
    if (call->mcp != NULL)
        mcp_message_free(&call->mcp->message);
}

static pawl_status begin(struct call *call, pawl_error *err) {
    call->mcp = arena_alloc(call->arena, sizeof *call->mcp);
    if (call->mcp == NULL)
        return error_set(err, PAWL_NO_MEMORY, "mcp", "no memory for the message");
    *call->mcp = (struct call_mcp){.peer = {.role = call->as, .agent = str_from(call->about.agent)},
                                   .headers = {.version = call->about.mcp_version,
                                               .method = call->about.mcp_method,
                                               .name = call->about.mcp_name}};
    mcp_message_read(&call->mcp->message, &call->mcp->peer, &call->mcp->headers, call->arena, call->body);
    return PAWL_OK;
}

/* The request waits. What is written now is the answer if the server has to give one before that is over. */
static void keep(struct call *call) {
    enum { MARGIN_MS = 5000 };
    struct mcp_message *message = &call->mcp->message;
    call->wait_ms = message->wait_until_ms - clock_boot_ms() +
                    MARGIN_MS; /* the message's own time comes first */
    call->wait_for = str_from(message->wait_for);
    mcp_refuse(message, MCP_INTERNAL, 503, "the server is stopping before %s has ended; ask again",
               message->wait_for);
    if (call->accept != NULL && strstr(call->accept, "text/event-stream") != NULL)
        mcp_message_report(message, &call->news);
}

static pawl_status serve(struct call *call, pawl_error *err) {
    struct request host = http_request(call);
    TRY(call->mcp == NULL ? begin(call, err) : PAWL_OK);
    struct mcp_message *message = &call->mcp->message;
    mcp_message_step(message, &host);
    if (message->waits)
        keep(call);
    buf_append_str(&call->out, buf_str(&message->out));
    call->status = message->status;
    return PAWL_OK;
}

/* For the reference: a message that is something else is answered, too. */
static const struct field fields[] = {
    {TEXT_FIELD(IN_BODY, "jsonrpc", 3, "Always 2.0."), .required = true, .example = "\"2.0\""},
    {FIELD(FIELD_JSON, IN_BODY, "id", "Text or a number; absent in a notification."), .example = "1"},
    {TEXT_FIELD(IN_BODY, "method", 100, "Such as tools/call."), .required = true,
     .example = "\"tools/list\""},
    {FIELD(FIELD_OBJECT, IN_BODY, "params", "As the method needs them.")}};

static const struct operation routes[] = {
    {OPERATION("mcp", "One message of the Model Context Protocol (Streamable HTTP): operations as tools"),
     ROUTE(METHOD_POST, "/mcp"), FIELDS(fields), .role = ROLE_VIEWER, .raw = true, .shape = ANSWER_OBJECT,
     .serve = serve},
};

const struct operation_table mcp_routes = OPERATION_TABLE(routes);
