/* Making messages dead letters. */
#ifndef STORE_SQLITE_MESSAGES_DEAD_H
#define STORE_SQLITE_MESSAGES_DEAD_H

#include "store/sqlite/messages/aside.h"

/* A message that dies. Its item has left its claim already. */
struct death {
    struct stream_ref stream;
    enum part_source source; /* the table it is in */
    enum dead_reason reason;
    enum dead_policy policy;
    int attempts;   /* SOURCE_MESSAGE only: a row of aside knows its own */
    pawl_str error; /* gives the fingerprint; a row of aside has the same stored */
};

/* Moves the message to the dead letters and does what the policy says to its stream. The hold is settled. */
PAWL_MUSTCHECK pawl_status dead_bury(struct operation *op, const struct death *death);

/* A message that was just read in a parked stream. */
PAWL_MUSTCHECK pawl_status dead_park_message(struct operation *op, enum store_kind kind, int lane,
                                             int64_t seq);

#endif
