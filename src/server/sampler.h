/* Samples of the whole system's state, taken about once a second and shared by all clients. */
#ifndef SERVER_SAMPLER_H
#define SERVER_SAMPLER_H

#include "base/buf.h"
#include "pawl.h"

struct call;
struct sampler;
struct server;

struct sampler *sampler_new(struct server *server); /* NULL: no memory */
void sampler_free(struct sampler *sampler);

/* Starts a sample when it is time; once a second or so. */
void sampler_tick(struct sampler *sampler, int64_t now_ms);
/* A client is watching: take a sample now, and every second for a while. */
void sampler_wanted(struct sampler *sampler);

/* Appends the events after `after`, at most SAMPLES_REPLAYED, at least the latest. */
void sampler_replay(struct sampler *sampler, int64_t after, struct buf *out);

/* Writes the latest sample and the series before it into the call's answer. */
void sampler_write(struct sampler *sampler, struct call *call);

#endif
