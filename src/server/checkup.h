/* The doctor in the background, and its last report. Examining a big file takes many seconds, so requests
 * never wait for it. */
#ifndef SERVER_CHECKUP_H
#define SERVER_CHECKUP_H

struct server;
struct checkup;

/* NULL when there is no memory. */
struct checkup *checkup_new(struct server *server);
void checkup_free(struct checkup *checkup);

#endif
