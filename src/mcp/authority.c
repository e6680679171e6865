/* What a peer may do: its role, the scopes of its agent, and the record of what it did. */
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "domain/authority/scope.h"
#include "mcp/mcp.h"
#include "operations/front/fields.h"

enum { SCOPE_BYTES = MCP_NAME_BYTES + 16 };

/* "operation:job.retry". */
static char *scope_of(const struct operation *operation, char scope[static SCOPE_BYTES]) {
    snprintf(scope, SCOPE_BYTES, "operation:%s", operation->name);
    return scope;
}

bool mcp_covers(pawl_str scopes, const struct operation *operation) {
    char scope[SCOPE_BYTES];
    pawl_str granted, wanted = str_from(scope_of(operation, scope));
    for (size_t at = 0; scope_list_next(scopes, &at, &granted);)
        if (scope_covers(granted, wanted))
            return true;
    return false;
}

pawl_status mcp_scopes(struct mcp_message *message, pawl_str *scopes, pawl_error *err) {
    pawl_str name = message->peer->agent;
    struct store *store = message->host->store;
    struct agent_list agents = {.count = 0};
    *scopes = (pawl_str){NULL, 0};
    if (str_absent(name))
        return PAWL_OK;
    TRY(store->ops->jobs->agents(store, message->arena, &agents, err));
    for (size_t i = 0; i < agents.count; i++) {
        if (!str_equal(agents.agents[i].name, name) || agents.agents[i].disabled)
            continue;
        *scopes = agents.agents[i].scopes;
        return PAWL_OK;
    }
    return error_set(
        err, PAWL_CONFLICT, "agent",
        "refused: there is no agent '%.*s', or it is disabled; an operator can create it with pawl "
        "agent set %.*s SCOPE...",
        STR_ARG(name), STR_ARG(name));
}

static pawl_status refuse_scope(struct mcp_message *message, const struct operation *operation,
                                pawl_error *err) {
    char scope[SCOPE_BYTES];
    struct store *store = message->host->store;
    pawl_str agent = message->peer->agent;
    struct refusal refusal = {.agent = agent, .missing = str_from(scope_of(operation, scope))};
    TRY(store->ops->jobs->refusal_add(store, &refusal, err));
    return error_set(
        err, PAWL_CONFLICT, "agent",
        "refused: the agent '%.*s' lacks the scope '%s'; an operator can grant it with pawl agent "
        "set %.*s SCOPE..., which replaces the agent's whole list",
        STR_ARG(agent), scope, STR_ARG(agent));
}

pawl_status mcp_may(struct mcp_message *message, const struct operation *operation, pawl_error *err) {
    pawl_str scopes;
    if (operation->role == ROLE_OPERATOR && message->peer->role != ROLE_OPERATOR)
        return error_set(err, PAWL_CONFLICT, "mcp",
                         "refused: this connection may only look; the person who set it up can allow changes "
                         "%s",
                         message->headers != NULL ? "by using the operator's token"
                                                  : "with pawl mcp --role operator");
    if (str_absent(message->peer->agent) || !mcp_tool_changes(operation))
        return PAWL_OK;
    TRY(mcp_scopes(message, &scopes, err));
    if (!mcp_covers(scopes, operation))
        TRY(refuse_scope(message, operation, err));
    return PAWL_OK;
}

pawl_status mcp_audit(struct mcp_message *message, pawl_error *err) {
    const struct operation *operation = message->operation;
    struct store *store = message->host->store;
    AUTO_BUF(detail, MCP_MESSAGE_BYTES_MAX);
    buf_append_cstr(&detail, "mcp");
    operation_asked(operation, message->values, &detail);
    pawl_str actor = message->host->front->actor(message->host->self);
    if (!str_absent(message->peer->agent))
        actor = str_from(arena_printf(message->arena, "agent %.*s", STR_ARG(message->peer->agent)));
    struct audit_row row = {.actor = actor,
                            .action = str_from(operation->name),
                            .detail = detail.failed ? STR("mcp")
                                                    : utf8_cut(buf_str(&detail), PAWL_HTTP_AUDIT_BYTES_MAX)};
    return store->ops->relay->audit_add(store, &row, err);
}
