/* What pawl monitor shows, as lines of text that fit a screen. */
#ifndef CLI_FLEET_MONITOR_VIEW_H
#define CLI_FLEET_MONITOR_VIEW_H

#include "base/buf.h"
#include "work/doctor/fleet_facts.h"

/* One look at the system. Texts live in the arena that it was read with. */
struct monitor_look {
    struct fleet_facts facts;
    struct alert_rows alerts;
};

/* What is kept of the look before, for rates. */
struct monitor_totals {
    int64_t at_ms, put, done, failed;
};

PAWL_MUSTCHECK pawl_status monitor_look(struct store *store, struct arena *arena, struct monitor_look *look,
                                        pawl_error *err);
struct monitor_totals monitor_totals(const struct monitor_look *look);

/* A screen of at most rows lines, none longer than columns characters, each ending in \n. before may be
 * NULL. */
void monitor_screen(const struct monitor_look *look, const struct monitor_totals *before, int columns,
                    int rows, struct buf *out);
/* One line for a log or a narrow terminal, without a line end. */
void monitor_line(const struct monitor_look *look, const struct monitor_totals *before, struct buf *out);
/* The same as a JSON object. */
void monitor_json(const struct monitor_look *look, const struct monitor_totals *before, struct buf *out);

#endif
