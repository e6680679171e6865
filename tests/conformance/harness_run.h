/* How main() passes the chosen backend to the fixtures. */
#ifndef CONFORMANCE_HARNESS_RUN_H
#define CONFORMANCE_HARNESS_RUN_H

struct backend;

void conf_choose(struct backend *backend);

#endif
