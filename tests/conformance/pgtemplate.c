/* A migrated database that is copied for every test. */
#include "conformance/pgtemplate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pgtemplate {
    char url[PGSERVER_URL_BYTES];
    char name[80];
    int copies;
};

/* Where the database's name begins in scheme://host/name?options. */
static const char *name_in(const char *url) {
    const char *rest = strstr(url, "://");
    const char *slash = rest != NULL ? strchr(rest + 3, '/') : NULL;
    return slash != NULL ? slash + 1 : NULL;
}

struct pgtemplate *pgtemplate_make(const struct migrate_config *migrate) {
    struct pgtemplate *template = calloc(1, sizeof *template);
    struct migrate_result migrated;
    pawl_error err;
    if (template == NULL)
        return NULL;
    if (!pgserver_create_database("template", template->url)) {
        free(template);
        return NULL;
    }
    struct store_config config = {.url = template->url};
    if (store_migrate(&config, migrate, &migrated, &err) != PAWL_OK) {
        fprintf(stderr, "%s: %s\n", err.op, err.text);
        pgtemplate_free(template);
        return NULL;
    }
    const char *name = name_in(template->url);
    snprintf(template->name, sizeof template->name, "%.*s", (int)strcspn(name, "?"), name);
    return template;
}

bool pgtemplate_copy(struct pgtemplate *template, char url[static PGSERVER_URL_BYTES]) {
    char sql[256];
    const char *name = name_in(template->url);
    template->copies++;
    snprintf(sql, sizeof sql, "CREATE DATABASE %s_%d TEMPLATE %s", template->name, template->copies,
             template->name);
    if (!pgserver_execute(pgserver_url(), sql))
        return false;
    int len = snprintf(url, PGSERVER_URL_BYTES, "%.*s%s_%d%s", (int)(name - template->url), template->url,
                       template->name, template->copies, name + strcspn(name, "?"));
    return len > 0 && len < PGSERVER_URL_BYTES;
}

void pgtemplate_free(struct pgtemplate *template) {
    if (template == NULL)
        return;
    pgserver_drop_database(template->url);
    free(template);
}
