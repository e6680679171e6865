/* Routes of what the server samples, and of its own description. */
#include "server/http/call.h"
#include "server/http/openapi.h"
#include "server/sampler.h"
#include "server/server.h"

static pawl_status read_overview(struct call *call, pawl_error *err) {
    (void)err;
    sampler_wanted(call->server->sampler);
    sampler_write(call->server->sampler, call);
    return PAWL_OK;
}

static pawl_status read_openapi(struct call *call, pawl_error *err) {
    openapi_write(&call->json);
    return buf_status(&call->out, "openapi", err);
}

static const struct operation routes[] = {
    {OPERATION("server.overview", "The latest sample with its rates, and the preceding series"),
     READS("/v1/overview"), .pool = POOL_LOOP, .shape = ANSWER_OBJECT, .serve = read_overview},
    {OPERATION("server.changes", "Server-sent events: every sample as it is taken"), READS("/v1/stream"),
     .pool = POOL_LOOP, .shape = ANSWER_STREAM, .serve = read_overview},
    {OPERATION("server.openapi", "This interface as an OpenAPI 3.1 document"), READS("/v1/openapi.json"),
     .pool = POOL_LOOP, .shape = ANSWER_OBJECT, .serve = read_openapi},
};

const struct operation_table status_routes = OPERATION_TABLE(routes);
