/* Recording actions of command-line users in the database. */
#include "cli/audit.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/str.h"

pawl_str audit_actor(struct cli *cli) {
    static const char *const names[] = {"PAWL_ACTOR", "SUDO_USER", "LOGNAME", "USER"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pawl_str text = str_from(getenv(names[i]));
        if (text.len > 0 && text.len <= PAWL_NAME_BYTES_MAX)
            return text;
    }
    return str_from(arena_printf(cli->arena, "uid %ld", (long)getuid()));
}

pawl_status audit_note(struct cli *cli, const char *action, const char *detail, pawl_error *err) {
    struct audit_row row = {
        .actor = audit_actor(cli), .action = str_from(action), .detail = str_from(detail)};
    return cli->store->ops->relay->audit_add(cli->store, &row, err);
}

pawl_status audit_note_reason(struct cli *cli, const char *action, const char *detail, pawl_error *err) {
    const struct flag_value *reason = cli_flag(cli, FLAG_REASON);
    const char *text = reason->set ? arena_printf(cli->arena, "%s: %.*s", detail, STR_ARG(reason->text))
                                   : detail;
    return audit_note(cli, action, text, err);
}
