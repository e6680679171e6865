/* JSON text: is it valid, and how is it written. tree.h reads it. */
#ifndef BASE_JSON_JSON_H
#define BASE_JSON_JSON_H

#include "base/buf.h"
#include "pawl.h"

/* Why and where a text is not JSON. */
struct json_fault {
    size_t offset;
    const char *reason; /* static text */
};

/*
 * Whether text is one JSON value (RFC 8259) that both databases can store and return: valid UTF-8, no NUL
 * bytes, no \u0000, no lone surrogates, nested at most depth_max deep (an array in an object is depth 2;
 * depth_max is at most PAWL_JSON_DEPTH_MAX), numbers of at most PAWL_JSON_NUMBER_BYTES_MAX bytes with an
 * exponent of at most PAWL_JSON_EXPONENT_MAX. Allocates nothing, does not recurse. fault may be NULL; it is
 * written only if the result is false.
 */
bool json_valid(pawl_str text, unsigned depth_max, struct json_fault *fault);

/* The same as a status: PAWL_INVALID with a sentence that says where and why. */
PAWL_MUSTCHECK pawl_status json_check(pawl_str text, const char *op, pawl_error *err);

/* Appends text as a JSON string with its quotes. Invalid UTF-8 becomes U+FFFD; C0, DEL and C1 become \u00xx.
 */
void json_quote(struct buf *buf, pawl_str text);

/*
 * Writes one JSON text into a buffer with the commas in the right places. Misuse (a value without a key in an
 * object, an end without a beginning, more than PAWL_JSON_DEPTH_MAX levels) makes the buffer fail, as running
 * out of memory does; ask buf_status once at the end.
 */
struct json_writer {
    struct buf *buf;
    unsigned depth;
    uint64_t in_object; /* bit per level: 1 = object, 0 = array */
    uint64_t has_items; /* bit per level */
    bool after_key;
};

void json_writer_init(struct json_writer *writer, struct buf *buf);
void json_begin_object(struct json_writer *writer);
void json_end_object(struct json_writer *writer);
void json_begin_array(struct json_writer *writer);
void json_end_array(struct json_writer *writer);
void json_key(struct json_writer *writer, const char *key);
/* A key and its value. */
void json_put_str(struct json_writer *writer, const char *key, pawl_str value);
void json_put_cstr(struct json_writer *writer, const char *key, const char *value);
void json_put_int(struct json_writer *writer, const char *key, int64_t value);
void json_put_bool(struct json_writer *writer, const char *key, bool value);
void json_put_raw(struct json_writer *writer, const char *key, pawl_str value);

void json_str(struct json_writer *writer, pawl_str value); /* absent is written as null */
void json_cstr(struct json_writer *writer, const char *value);
void json_int(struct json_writer *writer, int64_t value);
void json_double(struct json_writer *writer, double value); /* not finite is written as null */
void json_bool(struct json_writer *writer, bool value);
void json_null(struct json_writer *writer);
void json_raw(struct json_writer *writer, pawl_str value); /* must be valid JSON already; absent is null */

#endif
