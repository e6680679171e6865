/* Recording actions of command-line users in the database. */
#include "cli/audit.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"

pawl_str audit_actor(struct cli *cli) {
    static const char *const names[] = {"PAWL_ACTOR", "SUDO_USER", "LOGNAME", "USER"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pawl_str text = str_from(getenv(names[i]));
        if (text.len > 0 && text.len <= PAWL_NAME_BYTES_MAX)
            return text;
    }
    return str_from(arena_printf(cli->arena, "uid %ld", (long)getuid()));
}

pawl_status audit_note(struct cli *cli, pawl_error *err) {
    AUTO_BUF(detail, 0);
    operation_asked(cli->arguments.command, cli->arguments.values, &detail);
    TRY(buf_status(&detail, "actions", err));
    struct audit_row row = {.actor = audit_actor(cli),
                            .action = str_from(cli->arguments.command->name),
                            .detail = utf8_cut(str_trim(buf_str(&detail)), PAWL_HTTP_AUDIT_BYTES_MAX)};
    return cli->store->ops->relay->audit_add(cli->store, &row, err);
}
