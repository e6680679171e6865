/* Routes for health checks: is the server running, does the database answer. */
#include "base/error.h"
#include "base/time/clock.h"
#include "server/http/call.h"

static pawl_status healthz(struct call *call, pawl_error *err) {
    (void)err;
    buf_append_cstr(&call->out, "ok\n");
    return PAWL_OK;
}

static pawl_status readyz(struct call *call, pawl_error *err) {
    int64_t now_ms;
    TRY(call->store->ops->core.clock_read(call->store, &now_ms, err));
    buf_append_cstr(&call->out, "ready\n");
    return PAWL_OK;
}

static const struct operation routes[] = {
    {OPERATION("server.health", "Whether the server runs"), ROUTE(METHOD_GET, "/healthz"), .pool = POOL_LOOP,
     .shape = ANSWER_TEXT, .serve = healthz},
    {OPERATION("server.ready", "Whether the database answers"), ROUTE(METHOD_GET, "/readyz"),
     .shape = ANSWER_TEXT, .serve = readyz},
};

const struct operation_table health_routes = OPERATION_TABLE(routes);
