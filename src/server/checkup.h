/* The doctor in the background: its last report. A big file is looked through for many seconds, and nobody
 * who asks waits for that. */
#ifndef SERVER_CHECKUP_H
#define SERVER_CHECKUP_H

struct server;
struct checkup;

/* NULL when there is no memory. */
struct checkup *checkup_new(struct server *server);
void checkup_free(struct checkup *checkup);

#endif
