/* Routes for health checks: is the server running, does the database answer. */
#include "base/time/clock.h"
#include "server/api/fields.h"
#include "server/http/call.h"

static pawl_status healthz(struct call *call, pawl_error *err) {
    (void)err;
    buf_append_cstr(&call->out, "ok\n");
    return PAWL_OK;
}

static pawl_status readyz(struct call *call, pawl_error *err) {
    int64_t now_ms;
    pawl_status status = call->store->ops->core.clock_read(call->store, &now_ms, err);
    if (status == PAWL_OK)
        buf_append_cstr(&call->out, "ready\n");
    return status;
}

static const struct route routes[] = {
    {ROUTE(METHOD_GET, "/healthz", "healthz"), .pool = POOL_LOOP, .tag = "health",
     .summary = "Whether the server runs", .shape = ANSWER_TEXT, .run = healthz},
    {ROUTE(METHOD_GET, "/readyz", "readyz"), .tag = "health", .summary = "Whether the database answers",
     .shape = ANSWER_TEXT, .run = readyz},
};

const struct route_table health_routes = ROUTE_TABLE(routes);
