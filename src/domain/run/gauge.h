/* The progress of a run: share done, items per second, time left, and a progress bar. */
#ifndef DOMAIN_RUN_GAUGE_H
#define DOMAIN_RUN_GAUGE_H

#include "pawl.h"

struct run_gauge_in {
    int64_t parts, parts_ended; /* ended: finished or failed for good */
    int64_t items;              /* stored so far */
    int64_t items_total;        /* total according to the source; -1 = unknown for some partition */
    int64_t elapsed_ms;         /* since the run started */
    int64_t recent_items;       /* items during recent_ms; recent_ms 0 = unknown */
    int64_t recent_ms;
    bool ended; /* nothing is left to do */
};

struct run_gauge {
    int permille;      /* 0 … 1000 */
    int64_t per_1000s; /* items per 1,000 seconds, recently if that is known */
    int64_t eta_ms;    /* -1 = unknown */
};

struct run_gauge run_gauge(const struct run_gauge_in *in);

/* "[#####-----]" with width signs between the brackets (1 … RUN_BAR_WIDTH_MAX). Returns text. */
enum { RUN_BAR_WIDTH_MAX = 80, RUN_BAR_BYTES = RUN_BAR_WIDTH_MAX + 3 };
char *run_bar(int permille, int width, char text[static RUN_BAR_BYTES]);

#endif
