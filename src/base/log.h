/* Structured log lines: events have names and fields, not prose. Only the program logs. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdarg.h>
#include <stdio.h>

#include "pawl.h"

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR, LOG_LEVEL_OFF };

/* Where lines go. Exactly one of file and callback is set. The line has no line end and is valid during the
 * call. */
struct log {
    enum log_level level;
    FILE *file;
    void (*callback)(void *self, enum log_level level, const char *line);
    void *self;
};

/*
 * time=… level=warn event=lease_lost lane=7 owner="a b"
 *
 * fmt describes the fields as key=value pairs: "lane=%d owner=%s". Each value is quoted when it is empty or
 * has blanks, quotes, = or control characters, which are escaped; a value ends where the format's next key
 * begins, so untrusted text in a value cannot look like another field. NULL log and levels below the log's do
 * nothing. Lines longer than PAWL_LOG_LINE_BYTES_MAX are cut and end in " cut=true".
 */
void log_event(struct log *log, enum log_level level, const char *event, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Logs an error struct: event=… status=unavailable op=… error="…". */
void log_failure(struct log *log, enum log_level level, const char *event, const pawl_error *err);

#endif
