/* Measuring work: how long it waited and took, and its span in a trace. */
#ifndef WORK_OBSERVE_H
#define WORK_OBSERVE_H

#include "base/log.h"
#include "domain/series.h"
#include "handler/table.h"
#include "store/jobs.h"
#include "telemetry/tracer.h"

/* Shared by the threads of one worker. NULL everywhere: nothing is measured. */
struct observer {
    struct tracer *tracer; /* NULL: no traces */
    struct rollups rollups;
    struct series_sums series;
    _Atomic int64_t ahead_ms;  /* the store's clock less boot time; 0 = not known yet */
    struct tracer_counts told; /* spans that are in the rollups; the exporter owns it */
    struct log *log;           /* log for failed attempts; NULL: none */
    _Atomic int64_t failures_since_ms,
        failures; /* in the current second, so that a storm of failures does not fill the disk */
};

/* The store's clock said so just now. */
void observe_clock(struct observer *observer, int64_t store_now_ms);

/* What the log needs about the current message, which may be freed before its program ends. */
enum { OBSERVED_TYPE_BYTES = 64 };

/* One message being handled; zero it before the first use. */
struct observed {
    struct span span;
    struct item item; /* as its handler sees it, with the span's traceparent; only its kind if not traced */
    int64_t began_us; /* 0 = it was not started */
    pawl_uuid id;
    int attempt;
    char type[OBSERVED_TYPE_BYTES];
};

/* A handler starts; returns the message to pass to it. */
const struct item *observe_message(struct observer *observer, const struct item *item, struct observed *work);

/* The outcome. system and destination describe a published message; NULL and absent: it was handled. */
struct observed_end {
    enum rollup_result result;
    pawl_str error;
    const char *system;
    pawl_str destination;
};
void observe_message_end(struct observer *observer, struct observed *work, const struct observed_end *end);

/* The rollup result for a handler's outcome. */
enum rollup_result observe_outcome(enum handler_outcome outcome);

/* The same for a job. */
struct observed_job {
    struct span span;
    struct job job;
    const struct job *given; /* outlives the call of its handler */
    enum rollup_kind kind;   /* a job, or a page of a run */
    int64_t began_us;
};

const struct job *observe_job(struct observer *observer, const struct job *job, enum rollup_kind kind,
                              struct observed_job *work);
void observe_job_end(struct observer *observer, struct observed_job *work, enum rollup_result result,
                     pawl_str error);

/* A claim was made. */
void observe_claim(struct observer *observer, enum rollup_kind kind, int64_t took_us, bool ok, size_t count);

/* Something of that kind has waited since then, by the store's clock, and starts now. */
void observe_wait(struct observer *observer, enum rollup_kind kind, int64_t since_ms);

/* Something of that kind took so long, and ended. */
void observe_handled(struct observer *observer, enum rollup_kind kind, enum rollup_result result,
                     int64_t took_us);

/* A batch of a perspective. */
struct observed_batch {
    struct span span;
    int64_t began_us;
};
void observe_batch(struct observer *observer, pawl_str parent, struct observed_batch *work);
/* Whether its span is recorded. */
bool observe_batch_traced(const struct observer *observer, const struct observed_batch *work);
struct observed_batch_end {
    pawl_str perspective, error;
    const pawl_str *links; /* traceparents of its events */
    size_t link_count;
    int64_t events, streams;
    bool failed;
};
void observe_batch_end(struct observer *observer, struct observed_batch *work,
                       const struct observed_batch_end *end);

struct store;
/* Adds what was counted to the store's sums. If the outcome is unknown, the counts are dropped; if it failed,
 * they are kept for the next time. */
PAWL_MUSTCHECK pawl_status observe_pass_on(struct observer *observer, struct store *store, pawl_error *err);

#endif
