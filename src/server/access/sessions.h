/* Sessions: what a browser sends instead of a token. Only this server knows them, and they end with it. */
#ifndef SERVER_ACCESS_SESSIONS_H
#define SERVER_ACCESS_SESSIONS_H

#include "base/limits.h"
#include "server/access/auth.h"

enum { SESSION_TEXT_BYTES = 2 * TOKEN_BYTES + 1, COOKIE_NAME_BYTES = 40 };

struct session {
    char text[SESSION_TEXT_BYTES]; /* random; "" = none */
    enum role as;
    int64_t until_ms; /* of the clock since boot, which cannot be set */
};

/* The loop's own. */
struct sessions {
    char cookie[COOKIE_NAME_BYTES]; /* includes the port, because browsers send a host's cookies to all of its
                                     * ports
                                     */
    bool secure;                    /* the cookie goes over TLS only */
    struct session rows[PAWL_HTTP_SESSIONS_MAX];
};

/* Creates a session of the role; if all are in use, it replaces the one that expires first. */
PAWL_MUSTCHECK pawl_status session_open(struct sessions *sessions, enum role as, int64_t now_ms,
                                        const struct session **session, pawl_error *err);

/* NULL when there is none, or it is over. */
const struct session *session_find(const struct sessions *sessions, pawl_str text, int64_t now_ms);

/* From now on it is not accepted, and streams opened with it are ended. */
void session_end(struct sessions *sessions, pawl_str text);

/* The session's part of a Cookie header; absent when there is none. */
pawl_str session_of_cookies(const struct sessions *sessions, const char *cookies);

#endif
