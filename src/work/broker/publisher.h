/* The outbox's side of one broker: sessions that are kept open, and a circuit breaker. */
#ifndef WORK_BROKER_PUBLISHER_H
#define WORK_BROKER_PUBLISHER_H

#include "base/log.h"
#include "transport/settings.h"

struct publisher;

/* The setting must outlive the publisher. log NULL: the caller reports what is wrong. NULL: out of
 * memory.
 */
struct publisher *publisher_create(const struct transport_setting *setting, const struct log *log);
void publisher_free(struct publisher *publisher); /* takes NULL; nothing may be publishing */

bool publisher_keeps_order(const struct publisher *publisher);

/* The broker's name in traces. */
const char *publisher_system(const struct publisher *publisher);

/* How much longer the broker is left alone; 0 = it may be tried. */
int64_t publisher_rest_ms(struct publisher *publisher);

/* Closes the sessions that are not in use. */
void publisher_drop(struct publisher *publisher);

/* Publishes and fills every result; any thread. Opens a session when none is free; a broken one is closed. */
void publisher_publish(struct publisher *publisher, const struct transport_message *messages, size_t count,
                       struct transport_result *results);

#endif
