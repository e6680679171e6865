/* Fuzzes files of sections: handlers (the first byte is even) and transports. A refusal is "PATH:LINE:
 * reason". */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/str.h"
#include "fuzz.h"
#include "handler/table.h"
#include "transport/settings.h"

enum { PATH_BYTES = 64 };

/* A file that is only in memory, and its path. */
static int file_of(const uint8_t *data, size_t size, char path[static PATH_BYTES]) {
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, PATH_BYTES, "/proc/self/fd/%d", fd);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0 ||
        memmem(data, size, "-file", 5) != NULL) /* it would open files of the fuzzer's choosing */
        return 0;
    char path[PATH_BYTES];
    int fd = file_of(data + 1, size - 1, path);
    pawl_error err = {0};
    pawl_status status;
    if (data[0] % 2 == 0) {
        struct handler_table *table = NULL;
        must(handler_table_create(&table, &err) == PAWL_OK);
        status = handler_table_add_file(table, path, &err);
        if (status == PAWL_OK)
            must(handler_table_match(table, STR("order.created")) >= HANDLER_NONE);
        handler_table_free(table);
    } else {
        struct transport_settings *settings = NULL;
        status = transport_settings_read(path, &settings, &err);
        transport_settings_free(settings);
    }
    must(status == PAWL_OK || strstr(err.text, path) != NULL);
    close(fd);
    return 0;
}
