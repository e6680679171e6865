/* Passing the spine on: one instance at a time sends what happened to jobs to a broker. */
#ifndef WORK_PIPELINE_SPINE_H
#define WORK_PIPELINE_SPINE_H

#include "work/duty.h"

struct spine;

/* Starts the thread; *spine is NULL when the settings name no broker for it. */
PAWL_MUSTCHECK pawl_status spine_start(const struct duty_world *world, struct spine **spine, pawl_error *err);

/* Passes on what is left, for two seconds at most, and ends the thread; accepts NULL. */
void spine_stop(struct spine *spine);

#endif
