/* Hiding fields of payloads, as --redact says. */
#ifndef SERVER_ACCESS_REDACT_H
#define SERVER_ACCESS_REDACT_H

#include "base/arena.h"
#include "pawl.h"

enum { REDACT_KEYS_MAX = 64 };

/* Which members of JSON are hidden; names are compared ignoring case. */
struct redact {
    bool all; /* the whole of it */
    pawl_str keys[REDACT_KEYS_MAX];
    size_t count;
};

/* "password,card_number" or "*"; texts borrow. PAWL_INVALID when there are too many. */
PAWL_MUSTCHECK pawl_status redact_parse(pawl_str text, struct redact *redact, pawl_error *err);

/* The JSON with "***" in place of the values; hides everything if it cannot be parsed. */
pawl_str redact_json(struct arena *arena, const struct redact *redact, pawl_str json);

#endif
