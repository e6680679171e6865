/* Messages and jobs as the inputs of an operation choose them, and what becomes of messages that are sent. */
#ifndef OPERATIONS_MESSAGES_H
#define OPERATIONS_MESSAGES_H

#include "operations/front/operation.h"

/* What kind, state, stream, type, topic, fingerprint, lane, before_ms and the page say. */
struct message_filter message_filter_from(const struct request *request);
/* Whether it chooses anything besides the state. */
bool message_filtered(const struct message_filter *filter);
/* What state, queue, task, type, key, fingerprint and the page say. */
struct job_filter job_filter_from(const struct request *request);

#define MESSAGE_FILTER_FIELDS(place)                                                                         \
    FIELD_ROW_KIND(place), {TEXT_FIELD(place, "stream", PAWL_STREAM_BYTES_MAX, "Only of this stream.")},     \
        {TEXT_FIELD(place, "type", PAWL_TYPE_BYTES_MAX, "Only of this type.")},                              \
        {TEXT_FIELD(place, "topic", PAWL_TOPIC_BYTES_MAX, "Only with this topic.")},                         \
        {TEXT_FIELD(place, "fingerprint", PAWL_NAME_BYTES_MAX,                                               \
                    "Only dead letters with this fingerprint of their error (message failures).")},          \
    {                                                                                                        \
        TIME_FIELD(place, "before_ms", "Only what ended before this time.")                                  \
    }
/* For ending everything that matches. */
#define BULK_FIELDS(place)                                                                                   \
    {BOOL_FIELD(place, "all", "Everything, instead of a filter."), .example = "true"},                       \
        {INT_FIELD(place, "limit", 1, 1000000000, "At most this many.")},                                    \
        {INT_FIELD(place, "rate", 1, 1000000, "At most this many per second.")}, {                           \
        BOOL_FIELD(place, "dry_run", "Only show what would be done.")                                        \
    }

/* The messages with an id that are in a state (0: any) and of a kind (0: any); there may be none. */
PAWL_MUSTCHECK pawl_status messages_with_id(struct request *request, pawl_uuid id, int state, int kind,
                                            struct message_rows *rows, pawl_error *err);

/* The inputs that describe a message, and where they go: for flags, bodies and lines of JSON alike. */
enum message_input_type { INPUT_TEXT, INPUT_UUID, INPUT_JSON };
struct message_input {
    const char *name;
    enum message_input_type type;
    size_t offset; /* in pawl_outgoing */
};
enum { MESSAGE_INPUTS_MAX = 16 };
extern const struct message_input message_inputs[];
extern const size_t message_input_count;
/* Takes the id if the input is one, else the text. */
void message_input_set(pawl_outgoing *message, const struct message_input *input, pawl_str text,
                       pawl_uuid id);

/* Of a message that was sent: where it is, and the answer. */
enum { SENT_COLUMNS = 7 };
extern const struct column sent_columns[SENT_COLUMNS];
struct sent {
    enum store_kind kind;
    const pawl_outgoing *message;
    pawl_uuid id;
    enum store_answer answer;
};
void sent_cells(const struct sent *sent, const struct settings *settings,
                struct cell cells[static SENT_COLUMNS]);

#endif
