/* Checking single values, and where in a call a wrong one is; private to the input checks. */
#ifndef STORE_CHECK_PLACE_H
#define STORE_CHECK_PLACE_H

#include "store/row.h"
#include "store/types.h"

/* Prefixes the error with "message 3 of 20: "; noun NULL: it is about the call itself. */
struct place {
    const char *op;
    const char *noun;
    size_t index;
    size_t count;
    pawl_error *err;
};

pawl_status place_wrong(const struct place *at, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Which rule of domain/name.h a text follows. Absent passes unless required; empty never does. */
enum text_form { TEXT_STREAM, TEXT_TYPE, TEXT_TOPIC, TEXT_NAME };

struct text_rule {
    const char *what; /* "stream" */
    enum text_form form;
    bool required;
};

PAWL_MUSTCHECK pawl_status place_text(const struct place *at, const struct text_rule *rule, pawl_str text);
PAWL_MUSTCHECK pawl_status place_json_object(const struct place *at, const char *what, pawl_str text);
/* Required JSON of at most bytes_max. */
PAWL_MUSTCHECK pawl_status place_payload(const struct place *at, pawl_str payload, size_t bytes_max);
/* Free text: any length (it is cut when stored), any line ends, but UTF-8 without NUL bytes. */
PAWL_MUSTCHECK pawl_status place_error_text(const struct place *at, pawl_str text);
/* JSON of at most bytes_max; absent passes. */
PAWL_MUSTCHECK pawl_status place_json(const struct place *at, const char *what, pawl_str text,
                                      size_t bytes_max);
PAWL_MUSTCHECK pawl_status place_range(const struct place *at, const char *what, int64_t value, int64_t min,
                                       int64_t max);

struct text_of {
    const struct text_rule *rule;
    pawl_str text;
};
struct number_of {
    const char *what;
    int64_t value, min, max;
};
PAWL_MUSTCHECK pawl_status place_texts(const struct place *at, const struct text_of *texts, size_t count);
PAWL_MUSTCHECK pawl_status place_numbers(const struct place *at, const struct number_of *numbers,
                                         size_t count);
PAWL_MUSTCHECK pawl_status place_count(const struct place *at, const char *what, size_t count,
                                       const void *items);
PAWL_MUSTCHECK pawl_status place_kind(const struct place *at, enum store_kind kind);
PAWL_MUSTCHECK pawl_status place_instance_id(const struct place *at, pawl_uuid id);
PAWL_MUSTCHECK pawl_status place_lease(const struct place *at, int64_t lease_ms);
PAWL_MUSTCHECK pawl_status place_policy(const struct place *at, int policy);
PAWL_MUSTCHECK pawl_status place_attempts(const struct place *at, int max_attempts);

/* The texts of a message with their rules, in the order in which they are checked (rows/messages.c). */
struct text_member {
    struct text_rule rule;
    struct member member;
};
extern const struct text_member message_texts[];
extern const size_t message_text_count;

/* The messages of a put or a batch; at is filled with the item concerned. */
PAWL_MUSTCHECK pawl_status place_messages(struct place *at, const pawl_outgoing *messages, size_t count,
                                          size_t payload_bytes_max);
PAWL_MUSTCHECK pawl_status place_failures(struct place *at, const struct fail_item *items, size_t count);
PAWL_MUSTCHECK pawl_status place_releases(struct place *at, const struct release_item *items, size_t count);

#endif
