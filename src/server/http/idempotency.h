/* Answers that are remembered under the key of their request, so that sending it again does nothing twice. */
#ifndef SERVER_HTTP_IDEMPOTENCY_H
#define SERVER_HTTP_IDEMPOTENCY_H

#include <stdbool.h>

struct exchange;
struct key;
struct keys;

struct keys *keys_new(void); /* NULL: no memory */
void keys_free(struct keys *keys);

/* True: run it, the exchange holds the key. False: the exchange has its answer, from before or a problem. */
bool keys_take(struct keys *keys, struct exchange *exchange, const char *text);
/* Remembers the answer of an exchange that holds a key; one that may be tried again is forgotten. */
void keys_finish(struct keys *keys, struct exchange *exchange);
/* Takes NULL. Forgets a key whose request never ended. */
void keys_release(struct keys *keys, struct key *key);

#endif
