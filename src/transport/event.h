/* A CloudEvent 1.0: the form in which messages travel through brokers. */
#ifndef TRANSPORT_EVENT_H
#define TRANSPORT_EVENT_H

#include "base/arena.h"
#include "base/buf.h"
#include "pawl.h"

#define EVENT_CONTENT_TYPE "application/cloudevents+json"
#define EVENT_DATA_TYPE "application/json"

enum { EVENT_ATTRIBUTES_MAX = 13, EVENT_ATTRIBUTE_BYTES_MAX = 65536 };

/* Attributes that are absent have ptr NULL. Extension attributes have the names that CloudEvents documents
 * (partitionkey, sequence, traceparent, tracestate) or our own (correlationid, causationid, pawlheaders). */
struct event {
    pawl_str id;
    pawl_str source;
    pawl_str type;
    pawl_str time;
    pawl_str data_type; /* datacontenttype */
    pawl_str stream;    /* partitionkey */
    pawl_str sequence;
    pawl_str correlation_id;
    pawl_str causation_id;
    pawl_str traceparent;
    pawl_str tracestate;
    pawl_str headers; /* pawlheaders: a JSON object as text */
    pawl_str data;    /* JSON, unchanged */
};

struct event_attribute {
    const char *name;
    pawl_str value;
};

/* The attributes that are there, specversion first, without the data. Returns their number. */
size_t event_attributes(const struct event *event, struct event_attribute out[static EVENT_ATTRIBUTES_MAX]);

/* Sets one attribute by its CloudEvents name; unknown names are ignored, as the standard requires. False: a
 * specversion that is not 1.0. */
PAWL_MUSTCHECK bool event_set(struct event *event, pawl_str name, pawl_str value);

/* The name under which an attribute travels as a header: the prefix before its own, or content-type. */
enum { EVENT_HEADER_BYTES = 48 };
const char *event_header(const char *prefix, const char *attribute, char name[static EVENT_HEADER_BYTES]);

/* Takes a header; other headers than attributes are ignored, and upper case is as lower case. *binary: there
 * was a specversion, so the event is in the headers. PAWL_INVALID: it is not 1.0. */
PAWL_MUSTCHECK pawl_status event_take_header(struct event *event, const char *prefix, pawl_str name,
                                             pawl_str value, bool *binary, pawl_error *err);

/* Structured mode: the whole event as one JSON object. */
void event_json(struct buf *buf, const struct event *event);

/* Reads structured mode; texts live in the arena or in text. PAWL_INVALID says what is wrong. */
PAWL_MUSTCHECK pawl_status event_parse(struct arena *arena, pawl_str text, struct event *event,
                                       pawl_error *err);

/* Whether everything that CloudEvents and an inbox require is present and small enough to be stored. */
PAWL_MUSTCHECK pawl_status event_check(const struct event *event, pawl_error *err);

#endif
