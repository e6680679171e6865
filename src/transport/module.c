/* Finding and loading transport modules. */
#include "transport/module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "transport/paths.h" /* made by the build */

const struct transport_known transport_known_rows[] = {
    {"amqp", "amqp amqps", "AMQP 0-9-1 as RabbitMQ speaks it: publisher confirms and returns", "librabbitmq4",
     "librabbitmq-dev"},
    {"amqp1", "amqp1 amqp1+tls sb", "AMQP 1.0 as Azure Service Bus and RabbitMQ speak it", "libqpid-proton11",
     "libqpid-proton11-dev"},
    {"file", "file", "lines of JSON at the end of a file", NULL, NULL},
    {"kafka", "kafka kafka+tls", "Apache Kafka, with the idempotent producer", "librdkafka1",
     "librdkafka-dev"},
    {"loopback", "loopback", "the inbox of another schema of this database, or of another database", NULL,
     NULL},
    {"nats", "nats nats+tls", "NATS JetStream", NULL, NULL},
    {"redis", "redis rediss", "Redis Streams", "libhiredis0.14", "libhiredis-dev"},
};
const size_t transport_known_count = sizeof(transport_known_rows) / sizeof(*transport_known_rows);

static bool word_in(const char *words, pawl_str word) {
    bool found = false;
    for (pawl_str one, rest = str_from(words); !found && str_next(&rest, ' ', &one);)
        found = str_equal(one, word);
    return found;
}

const struct transport_known *transport_known_for(pawl_str url) {
    pawl_str rest, scheme = str_before(url, ':', &rest);
    for (size_t i = 0; i < transport_known_count && !str_absent(rest); i++) {
        if (word_in(transport_known_rows[i].schemes, scheme))
            return &transport_known_rows[i];
    }
    return NULL;
}

/* A program that runs from its build directory takes the modules from there. */
static bool build_dir(char dir[static TRANSPORT_DIR_BYTES]) {
    char self[TRANSPORT_DIR_BYTES];
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (len <= 0)
        return false;
    self[len] = '\0';
    size_t build = strlen(PAWL_BUILD_DIR);
    if (strncmp(self, PAWL_BUILD_DIR, build) != 0 || self[build] != '/')
        return false;
    snprintf(dir, TRANSPORT_DIR_BYTES, "%s/src/transport/modules", PAWL_BUILD_DIR);
    return true;
}

static size_t transport_dirs(char dirs[static TRANSPORT_DIRS_MAX][TRANSPORT_DIR_BYTES]) {
    size_t count = 0;
    const char *chosen = secure_getenv("PAWL_TRANSPORT_DIR");
    if (chosen != NULL && chosen[0] != '\0')
        snprintf(dirs[count++], TRANSPORT_DIR_BYTES, "%s", chosen);
    if (build_dir(dirs[count]))
        count++;
    snprintf(dirs[count++], TRANSPORT_DIR_BYTES, "%s", PAWL_MODULE_DIR);
    return count;
}

static const struct transport_known *known_by_name(const char *name) {
    for (size_t i = 0; i < transport_known_count; i++) {
        if (strcmp(transport_known_rows[i].name, name) == 0)
            return &transport_known_rows[i];
    }
    return NULL;
}

static pawl_status load_file(const char *path, const struct transport_known *known,
                             const struct transport_module **module, pawl_error *err) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL) {
        const char *reason = dlerror();
        return error_set(err, PAWL_UNAVAILABLE, "transport", "%s cannot be loaded (package %s): %s",
                         known->name, known->package != NULL ? known->package : "of pawl",
                         reason != NULL ? reason : "?");
    }
    const struct transport_module *found = dlsym(handle, TRANSPORT_MODULE_SYMBOL);
    if (found == NULL || found->abi != TRANSPORT_ABI || strcmp(found->name, known->name) != 0) {
        dlclose(handle);
        return error_set(err, PAWL_UNAVAILABLE, "transport",
                         "%s is not a transport module of this version of pawl", path);
    }
    *module = found;
    return PAWL_OK;
}

pawl_status transport_load(const char *name, const struct transport_module **module, pawl_error *err) {
    const struct transport_known *known = known_by_name(name);
    if (known == NULL)
        return error_set(err, PAWL_NOT_FOUND, "transport",
                         "there is no transport '%s'; pawl transport list shows them", name);
    char dirs[TRANSPORT_DIRS_MAX][TRANSPORT_DIR_BYTES];
    size_t count = transport_dirs(dirs);
    for (size_t i = 0; i < count; i++) {
        char path[TRANSPORT_DIR_BYTES + 64];
        int length = snprintf(path, sizeof(path), "%s/pawl-transport-%s.so", dirs[i], name);
        if (length < (int)sizeof(path) && access(path, F_OK) == 0)
            return load_file(path, known, module, err);
    }
    if (build_dir(dirs[0])) {
        const char *needs = known->dev_package;
        return error_set(
            err, PAWL_NOT_FOUND, "transport", "the transport %s was not built: %s%s%srun make program", name,
            needs != NULL ? "install " : "", needs != NULL ? needs : "", needs != NULL ? ", then " : "");
    }
    return error_set(err, PAWL_NOT_FOUND, "transport",
                     "the transport %s is not installed in %s: install the package pawl-transports", name,
                     dirs[count - 1]);
}
