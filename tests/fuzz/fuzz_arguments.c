/* Fuzzes the command line: NUL-separated bytes are the arguments; a refusal is a sentence, a password is
 * hidden. */
#include <string.h>

#include "cli/arguments.h"
#include "fuzz.h"

enum { ARGUMENTS_MAX = 32 };

static void fuzz_hide(struct arena *arena, int argc, char **argv) {
    char address[] = "postgres://u:S3CR3Tpassw0rd@h/d";
    char **copy = NULL;
    pawl_error err;
    argv[argc++] = address;
    if (arguments_hide(arena, argc, argv, &copy, &err) != PAWL_OK)
        return;
    must(strstr(address, "S3CR3T") == NULL && strcmp(copy[argc - 1], "postgres://u:S3CR3Tpassw0rd@h/d") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena *arena = arena_create(0);
    char *text = arena_copy(arena, data, size), program[] = "pawl", *argv[ARGUMENTS_MAX + 2] = {program};
    int argc = 1;
    for (size_t at = 0; at < size && argc < ARGUMENTS_MAX; at += strlen(text + at) + 1)
        if (strstr(text + at, "conf") == NULL) /* it would open files of the fuzzer's choosing */
            argv[argc++] = text + at;
    struct arguments arguments = {0};
    pawl_error err = {0};
    (void)arguments_want_json(argc, argv);
    pawl_status status = arguments_parse(arena, argc, argv, &arguments, &err);
    must(status == PAWL_OK ? arguments.command != NULL : err.text[0] != '\0');
    fuzz_hide(arena, argc, argv);
    arena_free(arena);
    return 0;
}
