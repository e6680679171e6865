/* Routes of browser sessions: signing in and out. */
#include <inttypes.h>

#include "base/limits.h"
#include "base/time/clock.h"
#include "server/access/sessions.h"
#include "server/api/fields.h"
#include "server/http/call.h"
#include "server/http/stream.h"
#include "server/server.h"

static const struct column columns[] = {
    {COLUMN(TEXT, "role")}, {COLUMN(TIME, "until")}, {COLUMN(BOOL, "redacted")}, {COLUMN(TEXT, "version")}};

static void show(struct call *call, int64_t until_ms) {
    struct cell cells[] = {cell_cstr(credential_name(call->as)), cell_time(until_ms),
                           cell_bool(!call_sees_content(call) || call->server->redact.count > 0),
                           cell_cstr(PAWL_VERSION)};
    call_record(call, cells);
}

static pawl_status read_session(struct call *call, pawl_error *err) {
    (void)err;
    show(call, 0);
    return PAWL_OK;
}

static const char *cookie(struct call *call, const char *value, int64_t seconds) {
    return arena_printf(call->arena, "%s=%s; Path=/; Max-Age=%" PRId64 "; HttpOnly; SameSite=Strict%s",
                        call->server->sessions->cookie, value, seconds,
                        call->server->sessions->secure ? "; Secure" : "");
}

static pawl_status make_session(struct call *call, pawl_error *err) {
    const struct session *session = NULL;
    pawl_status status = session_open(call->server->sessions, call->as, clock_boot_ms(), &session, err);
    if (status != PAWL_OK)
        return status;
    call->set_cookie = cookie(call, session->text, PAWL_HTTP_SESSION_MS / 1000);
    show(call, clock_wall_ms() + PAWL_HTTP_SESSION_MS);
    return PAWL_OK;
}

static pawl_status end_session(struct call *call, pawl_error *err) {
    (void)err;
    session_end(call->server->sessions, call->session);
    streams_sign_out(call->server->streams);
    call->set_cookie = cookie(call, "", 0);
    return PAWL_OK;
}

static const struct route routes[] = {
    {READS("/v1/session", "readSession"), .pool = POOL_LOOP, .tag = "session",
     .summary = "What the caller may do", .shape = ANSWER_RECORD, COLUMNS(columns), .run = read_session},
    {ROUTE(METHOD_POST, "/v1/session", "makeSession"), .credential = CREDENTIAL_VIEWER, .pool = POOL_LOOP,
     .tag = "session", .summary = "Exchange a token for a cookie, for browsers", .shape = ANSWER_RECORD,
     COLUMNS(columns), .run = make_session},
    {ROUTE(METHOD_DELETE, "/v1/session", "endSession"), .pool = POOL_LOOP, .tag = "session",
     .summary = "Sign out: end the session of the cookie", .shape = ANSWER_EMPTY, .status = 204,
     .run = end_session},
};

const struct route_table session_routes = ROUTE_TABLE(routes);
