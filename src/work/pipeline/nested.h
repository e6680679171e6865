/* A run as a step of a pipeline: it is started, and the job waits until it has ended. */
#ifndef WORK_PIPELINE_NESTED_H
#define WORK_PIPELINE_NESTED_H

#include "work/pipeline/run.h"
#include "work/pipeline/wait.h"
#include "work/run/start.h"

#define PIPELINE_RUN_TOOL "pawl.run" /* {"document": …, "params": …, "timeout": "2h"} */

/* Starts the run that the arguments describe; a planning tool is called at once. The key ensures that it is
 * started only once. */
PAWL_MUSTCHECK pawl_status nested_begin(const struct pipeline_run_in *in, const struct tree *with,
                                        pawl_str key, pawl_str wait_key, struct arena *arena,
                                        struct run_begun *out, pawl_error *err);

/* Whether the step waits; with "wait": false it is a plain tool call. */
bool nested_waits(const struct pipeline_step *step, const struct tree *with);

/* Handles a step that is a run: starts it, then waits for it as wait_state_look does. */
PAWL_MUSTCHECK pawl_status nested_look(struct wait_state *state, const struct pipeline_run_in *in,
                                       struct arena *arena, const struct pipeline_step *step,
                                       const struct step_ready *ready, struct wait_verdict *verdict,
                                       pawl_error *err);

/* Whether the run of such a step could work. tools NULL: they are not known here. */
PAWL_MUSTCHECK pawl_status nested_check(struct tools *tools, const struct stop_limit *wait,
                                        const struct tree *with, struct arena *arena, pawl_error *err);

/* The meaning of the signal of an ended run: NULL = it completed, otherwise why the step failed (in the
 * arena). */
const char *nested_fault(struct arena *arena, const struct tree *output);

#endif
