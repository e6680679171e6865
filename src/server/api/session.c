/* Routes of browser sessions: signing in and out. */
#include <inttypes.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/time/clock.h"
#include "server/access/sessions.h"
#include "server/http/call.h"
#include "server/http/stream.h"
#include "server/server.h"

static const struct column columns[] = {
    {COLUMN(TEXT, "role")}, {COLUMN(TIME, "until")}, {COLUMN(BOOL, "redacted")}, {COLUMN(TEXT, "version")}};

static pawl_status show(struct request *request, int64_t until_ms, pawl_error *err) {
    const struct call *call = call_of(request);
    return REQUEST_RECORD(request, columns, err, cell_cstr(role_name(call->as)), cell_time(until_ms),
                          cell_bool(!call_sees_content(call) || call->server->redact.count > 0),
                          cell_cstr(PAWL_VERSION));
}

static pawl_status read_session(struct request *request, pawl_error *err) { return show(request, 0, err); }

static const char *cookie(struct call *call, const char *value, int64_t seconds) {
    return arena_printf(call->arena, "%s=%s; Path=/; Max-Age=%" PRId64 "; HttpOnly; SameSite=Strict%s",
                        call->server->sessions->cookie, value, seconds,
                        call->server->sessions->secure ? "; Secure" : "");
}

static pawl_status make_session(struct request *request, pawl_error *err) {
    struct call *call = call_of(request);
    const struct session *session = NULL;
    TRY(session_open(call->server->sessions, call->as, clock_boot_ms(), &session, err));
    call->set_cookie = cookie(call, session->text, PAWL_HTTP_SESSION_MS / 1000);
    return show(request, clock_wall_ms() + PAWL_HTTP_SESSION_MS, err);
}

static pawl_status end_session(struct call *call, pawl_error *err) {
    (void)err;
    session_end(call->server->sessions, call->session);
    streams_sign_out(call->server->streams);
    call->set_cookie = cookie(call, "", 0);
    return PAWL_OK;
}

static const struct operation routes[] = {
    {OPERATION("session.show", "What the caller may do"), READS("/v1/session"), .pool = POOL_LOOP,
     .shape = ANSWER_RECORD, COLUMNS(columns), .run = read_session},
    {OPERATION("session.create", "Exchange a token for a cookie, for browsers"),
     ROUTE(METHOD_POST, "/v1/session"), .role = ROLE_VIEWER, .pool = POOL_LOOP, .shape = ANSWER_RECORD,
     COLUMNS(columns), .run = make_session},
    {OPERATION("session.delete", "Sign out: end the session of the cookie"),
     ROUTE(METHOD_DELETE, "/v1/session"), .pool = POOL_LOOP, .shape = ANSWER_EMPTY, .status = 204,
     .serve = end_session},
};

const struct operation_table session_routes = OPERATION_TABLE(routes);
