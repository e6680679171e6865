/* Finding an embedded file of the dashboard by path. */
#include "server/http/assets.h"

#include <string.h>

const struct asset *asset_find(const char *path) {
    if (strcmp(path, "/") == 0 || strcmp(path, "/ui") == 0 || strncmp(path, "/ui/", 4) == 0)
        path = "/index.html";
    for (size_t i = 0; i < assets_count; i++)
        if (strcmp(assets[i].path, path) == 0)
            return &assets[i];
    return NULL;
}
