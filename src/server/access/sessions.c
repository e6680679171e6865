/* Creating, finding and ending browser sessions. */
#include "server/access/sessions.h"

#include <openssl/crypto.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"

/* Compares in constant time. */
static struct session *find(struct sessions *sessions, pawl_str text) {
    struct session *found = NULL;
    for (size_t i = 0; i < PAWL_HTTP_SESSIONS_MAX && text.len == SESSION_TEXT_BYTES - 1; i++)
        if (CRYPTO_memcmp(sessions->rows[i].text, text.ptr, SESSION_TEXT_BYTES - 1) == 0)
            found = &sessions->rows[i];
    return found;
}

pawl_status session_open(struct sessions *sessions, enum role as, int64_t now_ms,
                         const struct session **session, pawl_error *err) {
    struct session *first = &sessions->rows[0];
    for (size_t i = 1; i < PAWL_HTTP_SESSIONS_MAX; i++)
        if (sessions->rows[i].until_ms < first->until_ms)
            first = &sessions->rows[i];
    char text[SESSION_TEXT_BYTES];
    TRY(token_make(text, err));
    *first = (struct session){.as = as, .until_ms = now_ms + PAWL_HTTP_SESSION_MS};
    memcpy(first->text, text, sizeof text);
    *session = first;
    return PAWL_OK;
}

const struct session *session_find(const struct sessions *sessions, pawl_str text, int64_t now_ms) {
    const struct session *found = find((struct sessions *)sessions, text);
    return found != NULL && found->until_ms > now_ms ? found : NULL;
}

void session_end(struct sessions *sessions, pawl_str text) {
    struct session *found = find(sessions, text);
    if (found != NULL)
        *found = (struct session){.until_ms = 0};
}

pawl_str session_of_cookies(const struct sessions *sessions, const char *cookies) {
    size_t name_len = strlen(sessions->cookie);
    while (cookies != NULL && *cookies != '\0') {
        cookies += strspn(cookies, "; \t");
        size_t len = strcspn(cookies, ";");
        if (len > name_len && strncmp(cookies, sessions->cookie, name_len) == 0 && cookies[name_len] == '=')
            return str_trim((pawl_str){cookies + name_len + 1, len - name_len - 1});
        cookies += len;
    }
    return (pawl_str){NULL, 0};
}
