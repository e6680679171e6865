/* The public API of libpawl: durable work coordination on SQLite and PostgreSQL. */
#ifndef PAWL_H
#define PAWL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAWL_API __attribute__((visibility("default")))
#define PAWL_MUSTCHECK __attribute__((warn_unused_result))

/* What a caller can do about an outcome. */
typedef enum pawl_status {
    PAWL_OK = 0,
    PAWL_INVALID,     /* the input is wrong: correct it */
    PAWL_NOT_FOUND,   /* what was named does not exist */
    PAWL_CONFLICT,    /* the state forbids it: look, then decide */
    PAWL_STALE,       /* the grant is over (old token, evicted instance): drop it */
    PAWL_BUSY,        /* somebody else holds it: try again later */
    PAWL_UNAVAILABLE, /* nothing happened: safe to try again */
    PAWL_UNKNOWN,     /* it may have happened: resolve with the same request key */
    PAWL_NO_MEMORY,
    PAWL_INTERNAL
} pawl_status;

/* Why something failed; owned by the caller, written only when the status is not PAWL_OK. */
typedef struct pawl_error {
    pawl_status status;
    char op[48];
    char text[512];
} pawl_error;

/* The name of a status, for messages; never NULL. */
PAWL_API const char *pawl_status_name(pawl_status status);

typedef struct pawl_uuid {
    uint8_t b[16];
} pawl_uuid;

/* Borrowed text that carries its length; ptr NULL means absent. */
typedef struct pawl_str {
    const char *ptr;
    size_t len;
} pawl_str;

#ifdef __cplusplus
}
#endif

#endif
