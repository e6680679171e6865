/* Helpers for the operations on events and perspectives. */
#ifndef CONFORMANCE_EVENT_WORDS_H
#define CONFORMANCE_EVENT_WORDS_H

#include "conformance/harness.h"

#define EVENTS(c) (&(c)->store->ops->events)

/* Appends count events of one type; ids are message_id(first_id) … unless first_id is 0. */
struct append_result append_(struct conf *c, const char *stream, int64_t expected, const char *type,
                             int count, int first_id);
#define append(c, ...) (conf_at(c, __FILE__, __LINE__), append_(c, __VA_ARGS__))

/* Registers version 1 as a C function with one pattern, and backfills. */
struct perspective_registered register_(struct conf *c, const char *name, int version, enum pattern_mode mode,
                                        const char *pattern);
#define register_one(c, ...) (conf_at(c, __FILE__, __LINE__), register_(c, __VA_ARGS__))
struct perspective_new perspective_named(const char *name, int version, const struct event_pattern *pattern);
void backfill_(struct conf *c, const char *key);
#define backfill(c, ...) (conf_at(c, __FILE__, __LINE__), backfill_(c, __VA_ARGS__))

/* Claims as instance n: of a stream, or (NULL) whatever is due, of up to two keys. */
struct checkpoint_grants grants_(struct conf *c, int n, const char *stream, const char *key,
                                 const char *other_key);
#define grants(c, ...) (conf_at(c, __FILE__, __LINE__), grants_(c, __VA_ARGS__))

/* "1:Created 2:Paid": what a function perspective was given, in order, per stream. */
struct seen {
    char text[4096];
    int64_t fails_at; /* fails at this version; 0 = never */
    int calls;
};
pawl_status see(const pawl_perspective_call *call, void *self, pawl_error *err);
struct apply_item apply_(struct conf *c, const char *key, int64_t token, const char *stream, int batch,
                         struct seen *seen);
#define apply_one(c, ...) (conf_at(c, __FILE__, __LINE__), apply_(c, __VA_ARGS__))

struct checkpoint_view checkpoint_(struct conf *c, const char *stream, const char *key);
#define checkpoint_of(c, ...) (conf_at(c, __FILE__, __LINE__), checkpoint_(c, __VA_ARGS__))
size_t checkpoint_count(struct conf *c, const char *key);
struct perspective_row perspective_(struct conf *c, const char *name, int version);
#define perspective_of(c, ...) (conf_at(c, __FILE__, __LINE__), perspective_(c, __VA_ARGS__))
/* As instance 1. */
enum store_answer report_(struct conf *c, const struct checkpoint_grant *grant, int64_t version,
                          enum checkpoint_status status, const char *error);
#define report_at(c, ...) (conf_at(c, __FILE__, __LINE__), report_(c, __VA_ARGS__))
bool reached_(struct conf *c, const char *perspective, const char *stream, int64_t at);
#define reached(c, ...) (conf_at(c, __FILE__, __LINE__), reached_(c, __VA_ARGS__))
void stamp_(struct conf *c);
#define stamp(c) (conf_at(c, __FILE__, __LINE__), stamp_(c))

#endif
