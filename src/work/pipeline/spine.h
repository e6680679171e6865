/* The spine passed on: what happened to jobs goes to a broker, by one instance at a time. */
#ifndef WORK_PIPELINE_SPINE_H
#define WORK_PIPELINE_SPINE_H

#include "work/duty.h"

struct spine;

/* Starts the thread; *spine is NULL when the settings name no broker for it. */
PAWL_MUSTCHECK pawl_status spine_start(const struct duty_world *world, struct spine **spine, pawl_error *err);

/* Passes on what is there, for two seconds at most, and ends the thread; takes NULL. */
void spine_stop(struct spine *spine);

#endif
