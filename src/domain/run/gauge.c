/* Computing the progress of a run. */
#include "domain/run/gauge.h"

#include <string.h>

/* a × b / c without overflow of the product; c is above 0. */
static int64_t scaled(int64_t a, int64_t b, int64_t c) {
    return (int64_t)((double)a * (double)b / (double)c);
}

struct run_gauge run_gauge(const struct run_gauge_in *in) {
    struct run_gauge out = {.eta_ms = -1};
    int64_t items = in->recent_ms > 0 ? in->recent_items : in->items;
    int64_t time_ms = in->recent_ms > 0 ? in->recent_ms : in->elapsed_ms;
    bool counted = in->items_total > 0;
    if (time_ms > 0)
        out.per_1000s = scaled(items, 1000000, time_ms);
    if (in->ended) {
        out.permille = in->parts > 0 ? (int)scaled(in->parts_ended, 1000, in->parts) : 1000;
        out.eta_ms = 0;
        return out;
    }
    if (counted)
        out.permille =
            (int)scaled(in->items < in->items_total ? in->items : in->items_total, 1000, in->items_total);
    else if (in->parts > 0)
        out.permille = (int)scaled(in->parts_ended, 1000, in->parts);
    if (counted && out.per_1000s > 0)
        out.eta_ms = in->items < in->items_total ? scaled(in->items_total - in->items, 1000000, out.per_1000s)
                                                 : 0;
    else if (!counted && in->parts_ended > 0)
        out.eta_ms = scaled(in->elapsed_ms, in->parts - in->parts_ended, in->parts_ended);
    return out;
}

char *run_bar(int permille, int width, char text[static RUN_BAR_BYTES]) {
    int signs = width < 1 ? 1 : width > RUN_BAR_WIDTH_MAX ? RUN_BAR_WIDTH_MAX : width;
    int part = permille < 0 ? 0 : permille > 1000 ? 1000 : permille;
    int full = part * signs / 1000;
    text[0] = '[';
    memset(text + 1, '#', (size_t)full);
    memset(text + 1 + full, '-', (size_t)(signs - full));
    text[signs + 1] = ']';
    text[signs + 2] = '\0';
    return text;
}
