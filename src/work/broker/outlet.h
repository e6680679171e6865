/* One broker as the outbox uses it: sessions that are kept open, and a breaker that rests when it is away. */
#ifndef WORK_BROKER_OUTLET_H
#define WORK_BROKER_OUTLET_H

#include "base/log.h"
#include "transport/settings.h"

struct outlet;

/* The setting must outlive the outlet. log NULL: whoever publishes says what is wrong. NULL: out of memory.
 */
struct outlet *outlet_create(const struct transport_setting *setting, const struct log *log);
void outlet_free(struct outlet *outlet); /* takes NULL; nobody may be publishing */

bool outlet_keeps_order(const struct outlet *outlet);

/* What traces call the broker. */
const char *outlet_system(const struct outlet *outlet);

/* How long the broker is left alone yet; 0 = it may be tried. */
int64_t outlet_rest_ms(struct outlet *outlet);

/* Publishes and fills every result; any thread. Opens a session when none is free; a broken one is closed. */
void outlet_publish(struct outlet *outlet, const struct transport_message *messages, size_t count,
                    struct transport_result *results);

#endif
