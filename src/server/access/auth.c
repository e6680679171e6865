/* Access control: deciding about one request. */
#include "server/access/auth.h"

#include <openssl/crypto.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "server/access/sessions.h"

/* Compares in constant time. */
static bool token_is(const char *token, pawl_str text) {
    uint8_t a[SHA256_BYTES], b[SHA256_BYTES];
    pawl_error ignored;
    if (token[0] == '\0' || sha256(str_from(token), a, &ignored) != PAWL_OK ||
        sha256(text, b, &ignored) != PAWL_OK)
        return false;
    return CRYPTO_memcmp(a, b, sizeof a) == 0;
}

static enum role bearer(const struct tokens *tokens, const char *authorization) {
    static const char scheme[] = "Bearer ";
    if (authorization == NULL || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0)
        return ROLE_NONE;
    pawl_str text = str_trim(str_from(authorization + sizeof scheme - 1));
    bool viewer = token_is(tokens->viewer, text), operator= token_is(tokens->operator, text),
         worker = token_is(tokens->worker, text);
    return operator? ROLE_OPERATOR : viewer ? ROLE_VIEWER : worker ? ROLE_WORKER : ROLE_NONE;
}

static bool host_known(const struct origins *origins, const char *host) {
    bool known = false;
    for (size_t i = 0; i < origins->count; i++)
        known = known || strcasecmp(origins->hosts[i], host) == 0;
    return known;
}

static bool origin_known(const struct origins *origins, const char *origin) {
    for (size_t i = 0; i < origins->count; i++) {
        size_t len = strlen(origins->schemes[i]);
        if (strncasecmp(origin, origins->schemes[i], len) == 0 && strncmp(origin + len, "://", 3) == 0 &&
            strcasecmp(origin + len + 3, origins->hosts[i]) == 0)
            return true;
    }
    return false;
}

/* Whether the browser reports that another site made the request. */
static bool foreign(const struct auth_question *question) {
    const char *site = question->fetch_site;
    if (site == NULL || strcasecmp(site, "same-origin") == 0 || strcasecmp(site, "none") == 0)
        return false;
    bool followed = question->page && question->reads && question->fetch_mode != NULL &&
                    strcasecmp(question->fetch_mode, "navigate") == 0;
    return !followed;
}

static bool enough(enum role needs, enum role has) {
    return needs == ROLE_NONE || has == needs || (needs == ROLE_VIEWER && has == ROLE_OPERATOR);
}

struct auth_verdict auth_decide(const struct tokens *tokens, const struct sessions *sessions,
                                const struct origins *origins, const struct auth_question *question) {
    struct auth_verdict verdict = {.status = 0};
    if (question->host == NULL)
        return (struct auth_verdict){.status = 400, .why = "The request has no Host header."};
    if (!host_known(origins, question->host))
        return (struct auth_verdict){
            .status = 421,
            .why = "This server is not reached by that name; start it with --public-url to add one."};
    if (question->origin != NULL && !origin_known(origins, question->origin))
        return (struct auth_verdict){.status = 403,
                                     .why = "The request comes from a page of another origin."};
    if (foreign(question))
        return (struct auth_verdict){.status = 403, .why = "The request comes from another site."};
    if (question->authorization != NULL) {
        verdict.as = bearer(tokens, question->authorization);
    } else {
        pawl_str text = session_of_cookies(sessions, question->cookie);
        const struct session *session = session_find(sessions, text, question->now_ms);
        verdict.as = session != NULL ? session->as : ROLE_NONE;
        verdict.session = session != NULL ? text : (pawl_str){NULL, 0};
    }
    if (question->needs == ROLE_NONE)
        return verdict;
    if (verdict.as == ROLE_NONE)
        return (struct auth_verdict){
            .status = 401,
            .why = question->authorization != NULL
                       ? "This token is unknown; the valid ones are in the server's token file."
                       : "A token is needed: Authorization: Bearer TOKEN (see the token file)."};
    if (!enough(question->needs, verdict.as))
        return (struct auth_verdict){.status = 403, .why = "This token's role does not allow that."};
    if (!str_absent(verdict.session) && !question->reads && question->own_header == NULL)
        return (struct auth_verdict){
            .status = 403, .why = "A session can change things only with the header " OWN_HEADER "."};
    return verdict;
}
