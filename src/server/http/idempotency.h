/* Responses remembered by Idempotency-Key, so that repeating a request does nothing twice. */
#ifndef SERVER_HTTP_IDEMPOTENCY_H
#define SERVER_HTTP_IDEMPOTENCY_H

#include <stdbool.h>

struct exchange;
struct key;
struct keys;

struct keys *keys_new(void); /* NULL: no memory */
void keys_free(struct keys *keys);

/* True: run it, the exchange holds the key. False: the exchange already has its response: the remembered one,
 * or a problem. */
bool keys_take(struct keys *keys, struct exchange *exchange, const char *text);
/* Remembers the response of an exchange that holds a key, unless it is an error that may be retried. */
void keys_finish(struct keys *keys, struct exchange *exchange);
/* Takes NULL. Forgets a key whose request never ended. */
void keys_release(struct keys *keys, struct key *key);

#endif
