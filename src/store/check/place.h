/* Checking single values, and where in a call a wrong one is; private to the input checks. */
#ifndef STORE_CHECK_PLACE_H
#define STORE_CHECK_PLACE_H

#include "store/row.h"
#include "store/types.h"

/* Prefixes the error with "message 3 of 20: "; noun NULL: it is about the call itself. The first thing that
 * is wrong is kept, so a check need not look at the status of each value, which every function here returns.
 */
struct place {
    const char *op;
    const char *noun;
    size_t index;
    size_t count;
    pawl_error *err;
    pawl_status status;
};

pawl_status place_wrong(struct place *at, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Which rule of domain/name.h a text follows. Absent passes unless required; empty never does. */
enum text_form { TEXT_STREAM, TEXT_TYPE, TEXT_TOPIC, TEXT_NAME };

struct text_rule {
    const char *what; /* "stream" */
    enum text_form form;
    bool required;
};

pawl_status place_text(struct place *at, const struct text_rule *rule, pawl_str text);
pawl_status place_required(struct place *at, enum text_form form, const char *what, pawl_str text);
pawl_status place_optional(struct place *at, enum text_form form, const char *what, pawl_str text);
pawl_status place_json_object(struct place *at, const char *what, pawl_str text);
/* Required JSON of at most bytes_max. */
pawl_status place_payload(struct place *at, pawl_str payload, size_t bytes_max);
/* Free text: any length (it is cut when stored), any line ends, but UTF-8 without NUL bytes. */
pawl_status place_error_text(struct place *at, pawl_str text);
/* JSON of at most bytes_max; absent passes. */
pawl_status place_json(struct place *at, const char *what, pawl_str text, size_t bytes_max);
pawl_status place_range(struct place *at, const char *what, int64_t value, int64_t min, int64_t max);

pawl_status place_limit(struct place *at, int limit); /* of a list */

pawl_status place_count(struct place *at, const char *what, size_t count, const void *items);
pawl_status place_kind(struct place *at, enum store_kind kind);
pawl_status place_instance_id(struct place *at, pawl_uuid id);
pawl_status place_lease(struct place *at, int64_t lease_ms);
pawl_status place_policy(struct place *at, int policy);
pawl_status place_attempts(struct place *at, int max_attempts);

/* The texts of a message with their rules, in the order in which they are checked (rows/messages.c). */
struct text_member {
    struct text_rule rule;
    struct member member;
};
extern const struct text_member message_texts[];
extern const size_t message_text_count;

/* The messages of a put or a batch; at is filled with the item concerned. */
pawl_status place_messages(struct place *at, const pawl_outgoing *messages, size_t count,
                           size_t payload_bytes_max);
pawl_status place_failures(struct place *at, const struct fail_item *items, size_t count);
pawl_status place_releases(struct place *at, const struct release_item *items, size_t count);

#endif
