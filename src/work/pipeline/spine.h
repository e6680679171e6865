/* Passing the spine on: a duty of one instance at a time, which sends what happened to jobs to a broker. */
#ifndef WORK_PIPELINE_SPINE_H
#define WORK_PIPELINE_SPINE_H

#include "transport/settings.h"
#include "work/duty.h"

struct spine;

/* To the broker that the settings name; they must outlive it, as must the text. When the duty is left, what
 * remains is passed on, for two seconds at most. */
PAWL_MUSTCHECK pawl_status spine_create(const struct transport_settings *settings, pawl_str service,
                                        struct spine **spine, pawl_error *err);
const struct duty *spine_duty(const struct spine *spine);
void spine_free(struct spine *spine); /* takes NULL */

#endif
