/* What the brokers' own client libraries are asked to do: publish the same events, confirmed, with no
 * database. */
#ifndef BENCH_BROKERS_FLOOR_H
#define BENCH_BROKERS_FLOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLOOR_TYPE "order.placed"

enum { FLOOR_WINDOW = 500, FLOOR_EVENT_BYTES = 1024 };

/* One measurement, from the command line: HOST PORT DESTINATION MESSAGES STREAMS. */
struct floor {
    const char *host;
    int port;
    const char *destination;
    int64_t messages;
    int64_t streams;
    unsigned run; /* part of every id, so that no broker takes a second run for repeats of the first */
};

struct floor_event {
    char id[40];
    char stream[32];
    char sequence[24];
    char data[96];
    char json[FLOOR_EVENT_BYTES]; /* all of it, structured */
    size_t json_len;
};

/* The attributes that brokers with headers carry there; names as pawl's, values as pawl's. */
struct floor_attribute {
    const char *name;
    const char *value;
};
enum { FLOOR_ATTRIBUTES = 7 };
void floor_attributes(const struct floor_event *event, struct floor_attribute out[static FLOOR_ATTRIBUTES]);

/* The event with this number: an id of its own, one of the streams, what pawl publishes of a message. */
void floor_event(const struct floor *floor, int64_t number, struct floor_event *event);

/* Publishes all of them, at most FLOOR_WINDOW unconfirmed; false: the reason is on standard error. */
bool floor_publish(const struct floor *floor);

#endif
