/* Registering perspectives: from files that a command names, or one definition. */
#include "base/error.h"
#include "operations/tables.h"
#include "view/event.h"
#include "view/names.h"
#include "work/perspective/file.h"

static const struct column set_columns[] = {
    {COLUMN(TEXT, "name")}, {COLUMN(INT, "version")}, {COLUMN(TEXT, "answer")}, {COLUMN(TEXT, "state")}};

static void registered(void *self, const struct perspective_new *in,
                       const struct perspective_registered *out) {
    request_row(self, (struct cell[]){cell_text(in->name), cell_int(in->version),
                                      cell_cstr(answer_name(out->answer)),
                                      cell_cstr(perspective_state_name(out->state))});
}

static pawl_status check_set(struct request *request, pawl_error *err) {
    const struct tree *definition = request_value(request, "definition").tree;
    bool command = request_is_command(request);
    if ((definition != NULL) == request_value(request, "file").present)
        return error_set(err, PAWL_INVALID, "perspective",
                         command ? "it needs files or directories, or --definition"
                                 : "it needs a definition");
    /* Workers call the address wherever it is, also inside their network. */
    if (!command && (tree_get_cstr(definition, "exec") != NULL || tree_get_cstr(definition, "pipe") != NULL ||
                     tree_get_cstr(definition, "http") != NULL))
        return error_set(err, PAWL_CONFLICT, "perspective",
                         "a perspective that runs a program or calls an endpoint can only be set with the "
                         "command pawl perspective set");
    return PAWL_OK;
}

/* Those in files that only a command can name, or the one that was given. */
static pawl_status perspective_set(struct request *request, pawl_error *err) {
    pawl_str *files = NULL;
    size_t count = 0;
    int batch = (int)request_number(request, "perspective_batch", 0);
    const struct tree *definition = request_value(request, "definition").tree;
    TRY(check_set(request, err));
    TRY(request_texts(request, "file", &files, &count, err));
    request_list(request, set_columns, COLUMN_COUNT(set_columns));
    for (size_t i = 0; i < count; i++)
        TRY(perspective_register_path(request->store, files[i].ptr, batch, registered, request, err));
    if (definition != NULL)
        TRY(perspective_register_tree(request->store, definition, batch, registered, request, err));
    return request_list_end(request, NULL, err);
}

static const struct field set_fields[] = {
    {FIELD(FIELD_OBJECT, IN_BODY, "definition", "A definition, as in a file; @FILE is a file."),
     .example = "{\"name\": \"orders\", \"on\": [\"Order*\"], \"function\": true}"},
    {FIELD(FIELD_TEXTS, IN_TERMINAL, "file", "A file or a directory of them."), .word = true, .max = 64}};

static const struct operation operations[] = {
    {OPERATION("perspective.set", "Register perspectives from files or directories"),
     PUTS("/v1/perspectives"), FIELDS(set_fields), COLUMNS(set_columns), .run = perspective_set,
     .check = check_set, .options = OPTION(PERSPECTIVE_BATCH), .database = DATABASE_MAKE,
     .details =
         "A file is YAML or JSON with name, version, on (patterns) and one of sql, exec, pipe, http "
         "and function; docs/perspectives.md describes it. The first version of a name is live; a later "
         "one fills beside it until pawl perspective switch. Setting the same definition again "
         "changes nothing; a different one under the same version is refused. Only the command sets "
         "those with exec or pipe.",
     .example = "pawl perspective set perspectives/"},
};

const struct operation_table perspective_set_operations = OPERATION_TABLE(operations);
