/* Metrics as text: Prometheus 0.0.4, or OpenMetrics 1.0 for who asks for it. */
#include "server/metrics.h"

#include <inttypes.h>
#include <string.h>

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

static void begin(struct metrics *metrics, const struct metric_label *labels) {
    buf_printf(metrics->buf, "%s%s", metrics->name, strcmp(metrics->type, "counter") == 0 ? "_total" : "");
    if (labels != NULL && labels->name != NULL) {
        buf_append_char(metrics->buf, '{');
        for (const struct metric_label *one = labels; one->name != NULL; one++)
            label(metrics->buf, one, one == labels);
        buf_append_char(metrics->buf, '}');
    }
    buf_append_char(metrics->buf, ' ');
}

void metrics_int(struct metrics *metrics, const struct metric_label *labels, int64_t value) {
    begin(metrics, labels);
    buf_printf(metrics->buf, "%" PRId64 "\n", value);
}

void metrics_double(struct metrics *metrics, const struct metric_label *labels, double value) {
    begin(metrics, labels);
    buf_printf(metrics->buf, "%.3f\n", value);
}

void metrics_histogram(struct metrics *metrics, const double *bounds, const int64_t *counts, size_t buckets,
                       double sum) {
    int64_t so_far = 0;
    for (size_t i = 0; i < buckets; i++) {
        so_far += counts[i];
        if (i + 1 < buckets)
            buf_printf(metrics->buf, "%s_bucket{le=\"%g\"} %" PRId64 "\n", metrics->name, bounds[i], so_far);
        else
            buf_printf(metrics->buf, "%s_bucket{le=\"+Inf\"} %" PRId64 "\n", metrics->name, so_far);
    }
    buf_printf(metrics->buf, "%s_sum %.6f\n%s_count %" PRId64 "\n", metrics->name, sum, metrics->name,
               so_far);
}

void metrics_end(struct metrics *metrics) {
    if (metrics->open)
        buf_append_cstr(metrics->buf, "# EOF\n");
}
