/* Writing to a pipe whose reader may be gone. */
#ifndef PROCESS_QUIET_WRITE_H
#define PROCESS_QUIET_WRITE_H

#include <stddef.h>
#include <sys/types.h>

/* write() without the signal that a closed pipe raises, whatever the program does about signals. */
ssize_t write_quietly(int fd, const char *bytes, size_t len);

#endif
