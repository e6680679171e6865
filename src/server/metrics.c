/* Writing metrics as Prometheus 0.0.4 or OpenMetrics 1.0 text. */
#include "server/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

void metrics_family(struct metrics *metrics, const char *name, const char *type, const char *help) {
    bool total = !metrics->open && strcmp(type, "counter") == 0;
    metrics->name = name;
    metrics->type = type;
    buf_printf(metrics->buf, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, total ? "_total" : "", help, name,
               total ? "_total" : "", type);
}

static void label(struct buf *buf, const struct metric_label *one, bool first) {
    buf_printf(buf, "%s%s=\"", first ? "" : ",", one->name);
    for (size_t i = 0; i < one->value.len; i++) {
        char c = one->value.ptr[i];
        if (c == '\n')
            buf_append_cstr(buf, "\\n");
        else if (c == '"' || c == '\\')
            buf_printf(buf, "\\%c", c);
        else
            buf_append_char(buf, c);
    }
    buf_append_char(buf, '"');
}

/* The labels in braces, with one more after them unless `last` has no name; nothing when there are none. */
static void write_labels(struct buf *buf, const struct metric_label *labels, struct metric_label last) {
    bool any = false;
    for (const struct metric_label *one = labels; one != NULL && one->name != NULL; one++) {
        buf_append_cstr(buf, any ? "" : "{");
        label(buf, one, !any);
        any = true;
    }
    if (last.name != NULL) {
        buf_append_cstr(buf, any ? "" : "{");
        label(buf, &last, !any);
        any = true;
    }
    buf_append_cstr(buf, any ? "} " : " ");
}

static void begin(struct metrics *metrics, const struct metric_label *labels) {
    buf_printf(metrics->buf, "%s%s", metrics->name, strcmp(metrics->type, "counter") == 0 ? "_total" : "");
    write_labels(metrics->buf, labels, (struct metric_label){NULL, {NULL, 0}});
}

void metrics_int(struct metrics *metrics, const struct metric_label *labels, int64_t value) {
    begin(metrics, labels);
    buf_printf(metrics->buf, "%" PRId64 "\n", value);
}

void metrics_double(struct metrics *metrics, const struct metric_label *labels, double value) {
    begin(metrics, labels);
    buf_printf(metrics->buf, "%.3f\n", value);
}

void metrics_histogram(struct metrics *metrics, const struct metric_label *labels,
                       const struct metric_buckets *buckets) {
    static const struct metric_label none = {NULL, {NULL, 0}};
    int64_t so_far = 0;
    for (size_t i = 0; i < buckets->count; i++) {
        char bound[32] = "+Inf";
        so_far += buckets->counts[i];
        if (i + 1 < buckets->count)
            snprintf(bound, sizeof(bound), "%g", buckets->bounds[i]);
        buf_printf(metrics->buf, "%s_bucket", metrics->name);
        write_labels(metrics->buf, labels, (struct metric_label){"le", str_from(bound)});
        buf_printf(metrics->buf, "%" PRId64 "\n", so_far);
    }
    buf_printf(metrics->buf, "%s_sum", metrics->name);
    write_labels(metrics->buf, labels, none);
    buf_printf(metrics->buf, "%.6f\n%s_count", buckets->sum, metrics->name);
    write_labels(metrics->buf, labels, none);
    buf_printf(metrics->buf, "%" PRId64 "\n", so_far);
}

void metrics_end(struct metrics *metrics) {
    if (metrics->open)
        buf_append_cstr(metrics->buf, "# EOF\n");
}
