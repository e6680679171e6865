/* The environment of a program. */
#include "process/environment.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/str.h"

/* What a program needs to run at all. The database's address and password are not among it. */
static const char *const passed_on[] = {"PATH", "HOME",   "USER",   "LOGNAME",  "SHELL", "LANG",
                                        "TZ",   "LC_ALL", "TMPDIR", "LC_CTYPE", "TERM"};

enum { PASSED_COUNT = sizeof(passed_on) / sizeof(*passed_on) };

static void add(struct environment *env, size_t *count, const char *name, pawl_str value) {
    if (str_absent(value))
        return;
    char *line = arena_printf(env->arena, "%s=%.*s", name, STR_ARG(value));
    if (line != NULL)
        env->list[(*count)++] = line;
}

/* Room for the common names and this many more. */
static pawl_status begin(struct environment *env, size_t more, size_t *count, pawl_error *err) {
    env->arena = arena_create(0);
    env->list = env->arena != NULL ? arena_array(env->arena, PASSED_COUNT + more + 1, sizeof(char *)) : NULL;
    if (env->list == NULL)
        return error_set(err, PAWL_NO_MEMORY, "process", "out of memory");
    for (size_t i = 0; i < PASSED_COUNT; i++)
        add(env, count, passed_on[i], str_from(getenv(passed_on[i])));
    return PAWL_OK;
}

pawl_status environment_plain(struct environment *env, const struct environment_pair *pairs, size_t count,
                              const char *run, pawl_error *err) {
    size_t made = 0;
    pawl_status status = begin(env, count + 1, &made, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        add(env, &made, pairs[i].name, str_from(pairs[i].value));
    if (status == PAWL_OK)
        add(env, &made, "PAWL_RUN", str_from(run));
    return status;
}

void environment_free(struct environment *env) {
    arena_free(env->arena);
    env->arena = NULL;
}
