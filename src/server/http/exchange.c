/* Producing the response to a request: the handler's output, or a problem document. */
#include "server/http/exchange.h"
#include "server/http/call.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/options/url.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "operations/front/fields.h"
#include "server/server.h"

static const char *title_of(int status) {
    static const struct {
        int status;
        const char *title;
    } titles[] = {
        {400, "Bad request"},         {401, "Unauthorized"},
        {403, "Forbidden"},           {404, "Not found"},
        {405, "Method not allowed"},  {409, "Conflict"},
        {413, "Content too large"},   {415, "Unsupported media type"},
        {421, "Misdirected request"}, {422, "Unprocessable content"},
        {429, "Too many requests"},   {500, "Internal error"},
        {503, "Unavailable"},         {504, "Outcome unknown"},
    };
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (titles[i].status == status)
            return titles[i].title;
    return "Error";
}

static void problem(struct exchange *exchange, int status, const char *type, const char *detail) {
    struct call *call = &exchange->call;
    buf_reset(&call->out);
    json_writer_init(&call->json, &call->out);
    AUTO_BUF(masked, 0);
    url_redact_text(&masked, detail);
    json_begin_object(&call->json);
    json_key(&call->json, "type");
    json_cstr(&call->json, type);
    json_key(&call->json, "title");
    json_cstr(&call->json, title_of(status));
    json_key(&call->json, "status");
    json_int(&call->json, status);
    json_key(&call->json, "detail");
    json_str(&call->json, buf_str(&masked));
    json_end_object(&call->json);
    call->status = status;
    call->type = "application/problem+json";
    call->location = call->set_cookie = NULL;
}

void exchange_problem(struct exchange *exchange, int status, const char *detail) {
    problem(exchange, status, "about:blank", detail);
}

/* The types are listed in docs/api.md. */
static const struct {
    int status;
    const char *type, *retry_after;
} failures[] = {
    [PAWL_OK] = {500, "urn:pawl:problem:internal", NULL},
    [PAWL_INVALID] = {400, "urn:pawl:problem:invalid", NULL},
    [PAWL_NOT_FOUND] = {404, "urn:pawl:problem:not-found", NULL},
    [PAWL_CONFLICT] = {409, "urn:pawl:problem:conflict", NULL},
    [PAWL_STALE] = {409, "urn:pawl:problem:stale", NULL},
    [PAWL_BUSY] = {503, "urn:pawl:problem:busy", "1"},
    [PAWL_UNAVAILABLE] = {503, "urn:pawl:problem:unavailable", "2"},
    [PAWL_UNKNOWN] = {504, "urn:pawl:problem:unknown", NULL},
    [PAWL_NO_MEMORY] = {500, "urn:pawl:problem:no-memory", NULL},
    [PAWL_DAMAGED] = {500, "urn:pawl:problem:damaged", NULL},
    [PAWL_INTERNAL] = {500, "urn:pawl:problem:internal", NULL},
};

void exchange_failure(struct exchange *exchange, const pawl_error *err) {
    problem(exchange, failures[err->status].status, failures[err->status].type, err->text);
    exchange->retry_after = failures[err->status].retry_after;
    if (failures[err->status].status >= 500)
        log_failure(&exchange->server->config.log, LOG_LEVEL_WARN, "request_failed", err);
}

void exchange_work(struct pool_task *pool_task, struct store *store, const pawl_error *err) {
    struct exchange *exchange = (struct exchange *)pool_task;
    exchange_run(exchange, store, err);
    server_hand_back(exchange->server, pool_task);
}

void exchange_run(struct exchange *exchange, struct store *store, const pawl_error *opened) {
    struct call *call = &exchange->call;
    struct call_input input = {.parts = exchange->match.parts,
                               .part_count = exchange->match.part_count,
                               .query = exchange->query,
                               .body = exchange->body.len > 0 ? buf_str(&exchange->body)
                                                              : (pawl_str){NULL, 0}};
    pawl_error err;
    error_clear(&err);
    call->store = store;
    call->wait_ms = 0;
    pawl_status status = call->values == NULL ? call_read(call, &input, &err) : PAWL_OK;
    if (status == PAWL_OK && store == NULL && call->route->pool != POOL_LOOP) {
        err = *opened;
        if (err.status == PAWL_OK)
            (void)error_set(&err, PAWL_UNAVAILABLE, "http", "the server is stopping");
        status = err.status;
    }
    if (status == PAWL_OK)
        status = call->route->serve != NULL ? call->route->serve(call, &err)
                                            : http_run(call, call->route->run, &err);
    if (status == PAWL_OK && call->route->changes == CHANGES_ACTION &&
        !operation_dry(call->route, call->values))
        status = call_audit(call, &err);
    if (status == PAWL_OK)
        status = buf_status(&call->out, "http", &err);
    if (status != PAWL_OK)
        exchange_failure(exchange, &err);
}

void exchange_again(struct exchange *exchange) {
    struct call *call = &exchange->call;
    exchange->began_us = clock_boot_us(); /* waiting is not working */
    buf_reset(&call->out);
    json_writer_init(&call->json, &call->out);
    call->rows = 0;
    call->tries++;
}
