/* The state dump (docs/state-dump.md): which sections there are, and how their rows are written. */
#ifndef STORE_ROWS_DUMP_H
#define STORE_ROWS_DUMP_H

#include "base/buf.h"
#include "store/types.h"

/* In the order of the dump; each store has a statement per section that gives the fields in their order. */
enum dump_section {
    DUMP_SETTINGS,
    DUMP_INSTANCE,
    DUMP_TOMBSTONE,
    DUMP_LANE,
    DUMP_MESSAGE,
    DUMP_ASIDE,
    DUMP_HOLD,
    DUMP_CLAIM,
    DUMP_DEAD,
    DUMP_DEDUPE,
    DUMP_RECEPTOR,
    DUMP_CHECKPOINT,
    DUMP_TALLY,
    DUMP_HISTORY,
    DUMP_RUN,
    DUMP_PARTITION,
    DUMP_ITEM,
    DUMP_SECTIONS
};

/* What a field is read as. */
enum dump_form {
    DUMP_NUMBER = 'i',
    DUMP_FLAG = 'f',
    DUMP_ID = 'u',
    DUMP_IDS = 'l',
    DUMP_TEXT = 't',
    DUMP_LINE = 'e',   /* the first line of a text */
    DUMP_STATE = 's',  /* of an instance: a number */
    DUMP_SOURCE = 'o', /* of a claim: a number */
};

struct dump_value {
    int64_t number;
    pawl_str text;
    pawl_uuid id;
    const pawl_uuid *ids;
    size_t id_count;
};

/* Gives the field of a row, of which only what the form needs is filled. */
typedef struct dump_value (*dump_read)(void *row, int column, enum dump_form form);

/* One row as a line. */
void dump_row(struct buf *out, enum dump_section section, dump_read read, void *row);

#endif
