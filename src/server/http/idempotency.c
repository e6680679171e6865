/* Remembering responses by Idempotency-Key. */
#include "server/http/idempotency.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "server/http/exchange.h"

struct key {
    struct key *next;              /* the latest first */
    uint8_t name[SHA256_BYTES];    /* of credential and key */
    uint8_t request[SHA256_BYTES]; /* hash of route, path, query and body: the same key must mean the same
                                      request */
    bool running;
    int64_t made_ms;
    int status;
    bool problem;
    char *body;
    size_t len;
};

struct keys {
    struct key *first;
    size_t count, bytes;
};

struct keys *keys_new(void) {
    return calloc(1, sizeof(struct keys));
}

static void drop(struct keys *keys, struct key **at) {
    struct key *key = *at;
    *at = key->next;
    keys->count--;
    keys->bytes -= key->len;
    free(key->body);
    free(key);
}

void keys_free(struct keys *keys) {
    while (keys != NULL && keys->first != NULL)
        drop(keys, &keys->first);
    free(keys);
}

/* Those that are too old, and the oldest when there are too many. */
static void tidy(struct keys *keys) {
    int64_t oldest_ms = clock_boot_ms() - PAWL_HTTP_KEY_MS;
    size_t seen = 0, bytes = 0;
    for (struct key **at = &keys->first; *at != NULL;) {
        bool over = (*at)->made_ms < oldest_ms || seen >= PAWL_HTTP_KEYS_MAX ||
                    bytes + (*at)->len > PAWL_HTTP_KEYS_BYTES_MAX;
        if (over && !(*at)->running) {
            drop(keys, at);
            continue;
        }
        seen++;
        bytes += (*at)->len;
        at = &(*at)->next;
    }
}

static bool hashes(struct exchange *exchange, const char *text, struct key *key) {
    pawl_error ignored;
    AUTO_BUF(buf, 0);
    buf_printf(&buf, "%d\n%s", (int)exchange->call.as, text);
    bool done = sha256(buf_str(&buf), key->name, &ignored) == PAWL_OK;
    buf_reset(&buf);
    buf_printf(&buf, "%s\n%s\n%s\n", exchange->match.route->name, exchange->path, exchange->query);
    buf_append_str(&buf, buf_str(&exchange->body));
    done = done && !buf.failed && sha256(buf_str(&buf), key->request, &ignored) == PAWL_OK;
    return done;
}

static void replay(struct exchange *exchange, const struct key *key) {
    buf_append(&exchange->call.out, key->body, key->len);
    exchange->call.status = key->status;
    if (key->problem)
        exchange->call.type = "application/problem+json";
    exchange->replayed = true;
}

bool keys_take(struct keys *keys, struct exchange *exchange, const char *text) {
    size_t len = strlen(text);
    if (len == 0 || len > PAWL_HTTP_KEY_BYTES_MAX) {
        exchange_problem(exchange, 400, "The Idempotency-Key must have 1 to 200 characters.");
        return false;
    }
    struct key *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL || !hashes(exchange, text, fresh)) {
        free(fresh);
        exchange_problem(exchange, 500, "No memory for the Idempotency-Key; nothing was done.");
        return false;
    }
    tidy(keys);
    for (struct key *key = keys->first; key != NULL; key = key->next) {
        if (memcmp(key->name, fresh->name, sizeof key->name) != 0)
            continue;
        if (memcmp(key->request, fresh->request, sizeof key->request) != 0)
            exchange_problem(exchange, 422,
                             "The Idempotency-Key was used for another request; take a new one.");
        else if (key->running)
            exchange_problem(exchange, 409, "The same request is running; ask again when it has ended.");
        else
            replay(exchange, key);
        free(fresh);
        return false;
    }
    fresh->running = true;
    fresh->made_ms = clock_boot_ms();
    fresh->next = keys->first;
    keys->first = fresh;
    keys->count++;
    exchange->key = fresh;
    return true;
}

void keys_release(struct keys *keys, struct key *key) {
    for (struct key **at = &keys->first; key != NULL && *at != NULL; at = &(*at)->next) {
        if (*at == key) {
            drop(keys, at);
            return;
        }
    }
}

void keys_finish(struct keys *keys, struct exchange *exchange) {
    struct key *key = exchange->key;
    struct call *call = &exchange->call;
    if (key == NULL)
        return;
    exchange->key = NULL;
    int status = call->status != 0 ? call->status : call->route->status != 0 ? call->route->status : 200;
    char *copy = status < 500 ? malloc(call->out.len + 1) : NULL;
    if (copy == NULL) {
        keys_release(keys, key);
        return;
    }
    memcpy(copy, call->out.ptr, call->out.len);
    key->running = false;
    key->status = status;
    key->problem = status >= 400;
    key->body = copy;
    key->len = call->out.len;
    keys->bytes += key->len;
}
