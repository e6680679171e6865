/* Pipelines from files, checked against the tools that there are. */
#ifndef CLI_JOBS_PIPELINE_INPUT_H
#define CLI_JOBS_PIPELINE_INPUT_H

#include "cli/cli.h"
#include "domain/pipeline/pipeline.h"

struct pipeline_input {
    const struct pipeline *pipeline;
    const struct tree *params; /* of --params; NULL = none given */
    pawl_str document;         /* JSON, whatever the file was written in */
    pawl_str scopes;           /* JSON array: what its tools require */
};

/* The file ("-" is standard input; .yaml and .yml are YAML), and --params. PAWL_INVALID says where and what
 * is wrong: the document, a tool that is not registered, arguments, parameters. params_needed: without
 * --params they are {}. */
PAWL_MUSTCHECK pawl_status pipeline_input_read(struct cli *cli, const char *path, bool params_needed,
                                               struct pipeline_input *in, pawl_error *err);

/* --params as JSON in the arena; absent without it. "@FILE" reads a file. */
PAWL_MUSTCHECK pawl_status pipeline_input_params(struct cli *cli, pawl_str *params, pawl_error *err);

#endif
