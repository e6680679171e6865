/* Reading a secret from a file. */
#include "base/options/secret.h"

#include <stdio.h>

const char *secret_file_read(struct arena *arena, const char *path) {
    FILE *file = fopen(path, "re");
    char *bytes = file != NULL ? arena_alloc(arena, SECRET_BYTES_MAX + 1) : NULL;
    size_t len = bytes != NULL ? fread(bytes, 1, SECRET_BYTES_MAX, file) : 0;
    if (file != NULL)
        fclose(file);
    if (bytes != NULL)
        bytes[len] = '\0';
    while (len > 0 && (bytes[len - 1] == '\n' || bytes[len - 1] == '\r'))
        bytes[--len] = '\0';
    return len > 0 ? bytes : NULL;
}
