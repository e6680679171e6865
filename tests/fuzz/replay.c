/* Plays the kept inputs of the fuzz targets again: a line of base64 each, in DIR/TARGET.txt. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

typedef int fuzz_target(const uint8_t *data, size_t size);

#define DECLARE(name) fuzz_target fuzz_##name;
#define ROW(name) {#name, fuzz_##name},
TARGETS(DECLARE)

static const struct {
    const char *name;
    fuzz_target *play;
} targets[] = {TARGETS(ROW)};

/* A copy of exactly that size, so that a byte beyond it is noticed. */
static bool play_line(fuzz_target *play, pawl_str line) {
    AUTO_BUF(input, 0);
    uint8_t *exact = base64_decode(&input, line) && !input.failed ? malloc(input.len) : NULL;
    if (exact == NULL)
        return false;
    if (input.len > 0)
        memcpy(exact, input.ptr, input.len);
    play(exact, input.len);
    free(exact);
    return true;
}

static bool play_file(const char *dir, size_t target, size_t *count) {
    char path[4096], *text = NULL;
    size_t room = 0;
    bool good = true;
    snprintf(path, sizeof path, "%s/%s.txt", dir, targets[target].name);
    FILE *file = fopen(path, "re");
    for (ssize_t len; file != NULL && good && (len = getline(&text, &room, file)) > 0; ++*count)
        good = play_line(targets[target].play, str_trim((pawl_str){text, (size_t)len}));
    free(text);
    if (file != NULL)
        fclose(file);
    return good && *count > 0;
}

int main(int argc, char **argv) {
    bool all = argc == 2;
    setvbuf(stdout, NULL, _IOLBF, 0); /* the last line before a crash names the target */
    printf("1..%zu\n", sizeof targets / sizeof *targets);
    for (size_t i = 0; argc == 2 && i < sizeof targets / sizeof *targets; i++) {
        size_t count = 0;
        printf("# %s\n", targets[i].name);
        bool good = play_file(argv[1], i, &count);
        printf("%s %zu - the %zu kept inputs of %s\n", good ? "ok" : "not ok", i + 1, count, targets[i].name);
        all = all && good;
    }
    return all ? 0 : 1;
}
