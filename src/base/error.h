/* Error structs: a status that the caller acts on, and text in a struct that the caller owns. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "pawl.h"

/*
 * Fills *err (unless err is NULL) and returns status, so that it composes: `return error_set(err, PAWL_BUSY,
 * …)`. Text that does not fit is cut at a character boundary. Control characters come out escaped (\n, \x1b),
 * because the text ends up in logs and on terminals and may quote untrusted input.
 */
pawl_status error_set(pawl_error *err, pawl_status status, const char *op, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The same with ": " and the meaning of an errno value after the text. */
pawl_status error_errno(pawl_error *err, pawl_status status, const char *op, int code, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

#if defined(__clang_analyzer__) && !defined(BASE_ERROR_C)
/* The analyser does not see error.c; without this it assumes that error_set may return PAWL_OK. */
static inline pawl_status error_same(pawl_status returned, pawl_status given) {
    (void)returned;
    return given;
}
#define error_set(err, status, ...) error_same((error_set)(err, status, __VA_ARGS__), status)
#define error_errno(err, status, ...) error_same((error_errno)(err, status, __VA_ARGS__), status)
#endif

/* PAWL_NO_MEMORY, in the words that all of the code uses for it. */
static inline pawl_status error_no_memory(pawl_error *err, const char *op) {
    (void)error_set(err, PAWL_NO_MEMORY, op, "out of memory");
    return PAWL_NO_MEMORY;
}

/* Returns the status of the call from this function unless it is PAWL_OK: where nothing is left to clean up,
 * as the memory is the arena's. */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        pawl_status try_status = (call);                                                                     \
        if (try_status != PAWL_OK)                                                                           \
            return try_status;                                                                               \
    } while (0)

/* Makes *err say "ok"; takes NULL. */
void error_clear(pawl_error *err);

/*
 * The exit code of the program for a status. The numbers follow sysexits.h where it has a meaning for them:
 *
 *   0   ok
 *   64  wrong usage (ERROR_EXIT_USAGE: the command line itself; no status maps to it)
 *   65  invalid: the input data is wrong
 *   66  not found
 *   69  unavailable: nothing happened, safe to try again
 *   70  internal: a defect of pawl
 *   71  no memory
 *   72  damaged: the database itself, or it was replaced in use
 *   73  conflict: the state forbids it
 *   74  stale: the grant is over
 *   75  busy: held by another worker or session, try again later
 *   76  unknown: it may have happened; look before trying again
 */
int error_exit_code(pawl_status status);

enum { ERROR_EXIT_USAGE = 64 };

#endif
