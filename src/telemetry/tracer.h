/* Traces: spans are recorded where work is done and exported in batches, by a separate thread, to an
 * OTLP/HTTP collector. Problems with the export never affect the work. */
#ifndef TELEMETRY_TRACER_H
#define TELEMETRY_TRACER_H

#include "base/log.h"
#include "domain/trace.h"
#include "pawl.h"

enum {
    TRACER_QUEUE_DEFAULT = 2048, /* spans; OTEL_BSP_MAX_QUEUE_SIZE */
    TRACER_QUEUE_MAX = 65536,
    TRACER_BATCH_DEFAULT = 512, /* OTEL_BSP_MAX_EXPORT_BATCH_SIZE */
    TRACER_DELAY_MS_DEFAULT = 5000,
    TRACER_EXPORT_MS_DEFAULT = 30000, /* one batch with all its tries */
    TRACER_CALL_MS_DEFAULT = 10000,   /* one try */
    TRACER_MS_MAX = 600000,
    TRACER_RETRY_MS_FIRST = 500,
    TRACER_RETRY_MS_MAX = 10000,
    TRACER_CLOSE_MS = 2000, /* for the remaining spans at shutdown */
    TRACER_TEXT_BYTES_MAX = 1024,
    TRACER_HEADERS_MAX = 32,
    TRACER_LINKS_MAX = 32
};

struct tracer; /* NULL everywhere: nothing is traced */

/* What OTEL_… in the environment asks for; NULL: nothing, or it cannot be done, which is logged. service
 * is the default of OTEL_SERVICE_NAME. The log is copied and used by a thread. */
struct tracer *tracer_open(const char *service, const struct log *log);

/* Sends what is left, for at most TRACER_CLOSE_MS; what ends later is dropped. Takes NULL. */
void tracer_stop(struct tracer *tracer);
void tracer_free(struct tracer *tracer); /* stops it if it runs; takes NULL */

struct tracer_counts {
    int64_t exported;
    int64_t dropped; /* the queue was full */
    int64_t failed;  /* the collector did not accept them */
};

/* Since it was opened; zeros for NULL. */
struct tracer_counts tracer_counts(struct tracer *tracer);

/* The numbers are OTLP's. */
enum span_kind { SPAN_INTERNAL = 1, SPAN_SERVER, SPAN_CLIENT, SPAN_PRODUCER, SPAN_CONSUMER };

/* A span: something that takes time and is shown in a trace. */
struct span {
    struct tracer *tracer; /* NULL: not traced */
    struct trace_context context;
    uint8_t parent_id[SPAN_ID_BYTES];
    bool has_parent, recorded;
    int64_t wall_us; /* when it began, for people */
    int64_t boot_us;
    char traceparent[TRACEPARENT_BYTES];
};

/* Starts now. parent is a traceparent; if it is absent or malformed, a new trace starts. */
void span_begin(struct tracer *tracer, pawl_str parent, struct span *span);

/* The traceparent to pass on to the work under this span; `otherwise` if nothing is traced. */
pawl_str span_traceparent(const struct span *span, pawl_str otherwise);

/* An attribute is a text or, without one, a number; an absent text is left out. */
struct span_attribute {
    const char *key;
    pawl_str text;
    int64_t number;
    bool is_number;
};

#define SPAN_TEXT(key, text)                                                                                 \
    (struct span_attribute) { (key), (text), 0, false }
#define SPAN_NUMBER(key, number)                                                                             \
    (struct span_attribute) { (key), {NULL, 0}, (number), true }

/* What the span was. */
struct span_about {
    enum span_kind kind;
    const char *operation; /* the name is "operation object" */
    pawl_str object;
    const struct span_attribute *attributes;
    size_t attribute_count;
    const pawl_str *links; /* traceparents of what was handled together; malformed ones are left out */
    size_t link_count;
    bool failed;
    pawl_str error; /* of a failed one; may be absent */
};

/* Ends now. Costs a copy when it is recorded, nothing when it is not; a full queue drops it. */
void span_end(struct span *span, const struct span_about *about);

#endif
