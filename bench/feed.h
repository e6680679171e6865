/* The messages that benchmarks put: small JSON payloads, dealt to the streams in turn. */
#ifndef BENCH_FEED_H
#define BENCH_FEED_H

#include "bench.h"

struct feed {
    int64_t next; /* number of the next message */
    int64_t step; /* several feeds deal out one sequence: feed i starts at i and steps by their count */
    int64_t index, made; /* made: by this feed so far */
    int64_t group;       /* so many messages in a row share a stream; 1 unless it is set */
    int64_t streams;
    pawl_outgoing messages[BENCH_BATCH_MAX];
    char stream_text[BENCH_BATCH_MAX][24];
    char payload_text[BENCH_BATCH_MAX][96];
};

/* NULL when out of memory; free() releases it. */
struct feed *feed_create(const struct bench_options *options, int index, int count);

/* Fills feed->messages[0..count-1] with new messages and new ids. */
pawl_status feed_next(struct feed *feed, size_t count, pawl_error *err);

/* Puts `total` messages through one connection in batches of at most `batch`. */
pawl_status feed_fill(struct side *side, const struct side_ops *ops, struct feed *feed, int64_t total,
                      int batch, pawl_error *err);

#endif
