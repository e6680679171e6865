/* Fuzzes the option parser: NUL-separated bytes are the arguments; a refusal must be a sentence. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/options/options.h"
#include "fuzz.h"

enum { ARGUMENTS_MAX = 32 };

static const char *no_environment(void *self, const char *name) {
    (void)self;
    (void)name;
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    char program[] = "pawl";
    char *argv[ARGUMENTS_MAX + 1] = {program};
    int argc = 1;
    for (size_t at = 0; at < size && argc < ARGUMENTS_MAX; at += strlen(text + at) + 1)
        if (strstr(text + at, "config") == NULL) /* it would open files of the fuzzer's choosing */
            argv[argc++] = text + at;

    struct arena *arena = arena_create(0);
    struct options_input input = {.argc = argc, .argv = argv, .getenv = no_environment};
    struct options options;
    pawl_error err = {0};
    if (arena != NULL && options_parse(arena, &input, &options, &err) != PAWL_OK && err.text[0] == '\0')
        abort();
    arena_free(arena);
    free(text);
    return 0;
}
