/* Access control: tokens, sessions, and the origin of requests. */
#ifndef SERVER_ACCESS_AUTH_H
#define SERVER_ACCESS_AUTH_H

#include "base/arena.h"
#include "base/hash.h"
#include "server/http/route.h"

enum { TOKEN_BYTES = 32, TOKEN_TEXT_BYTES = 2 * TOKEN_BYTES + 1 };

/* The secrets of the server; texts of hex digits. */
struct tokens {
    char viewer[TOKEN_TEXT_BYTES];
    char operator[TOKEN_TEXT_BYTES];
    char worker[TOKEN_TEXT_BYTES];
};

/*
 * Reads the file, or creates it with new tokens (mode 0600, *made is set). PAWL_CONFLICT when others may read
 * it, PAWL_INVALID when a token is missing or short.
 */
PAWL_MUSTCHECK pawl_status tokens_load(const char *path, struct tokens *tokens, bool *made, pawl_error *err);

/* Where tokens are kept by default: $STATE_DIRECTORY, $XDG_STATE_HOME/pawl or ~/.local/state/pawl. */
PAWL_MUSTCHECK pawl_status tokens_default_path(struct arena *arena, const char **path, pawl_error *err);

/* A new secret, as hex digits. */
PAWL_MUSTCHECK pawl_status token_make(char text[static TOKEN_TEXT_BYTES], pawl_error *err);

struct sessions;

/* The host names of this server. */
struct origins {
    const char *hosts[8];   /* "127.0.0.1:7295" */
    const char *schemes[8]; /* "http" */
    size_t count;
};

/* The parts of a request that decide; NULL = the header is missing. */
struct auth_question {
    bool reads; /* GET or HEAD */
    bool page;  /* a file of the dashboard: may be opened by a link from elsewhere */
    enum role needs;
    const char *host, *origin, *fetch_site, *fetch_mode, *authorization, *cookie, *own_header;
    int64_t now_ms; /* of the clock since boot */
};

struct auth_verdict {
    int status;      /* 0 = allowed, otherwise 400, 401, 403 or 421 */
    const char *why; /* a sentence */
    enum role as;
    pawl_str session; /* from the cookie; absent if there is none, or a token was sent */
};

struct auth_verdict auth_decide(const struct tokens *tokens, const struct sessions *sessions,
                                const struct origins *origins, const struct auth_question *question);

#define OWN_HEADER "Pawl-Request" /* a page of another site cannot send it */

#endif
