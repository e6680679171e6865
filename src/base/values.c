/* What the public header offers without a store: the version, texts and ids. */
#include "base/str.h"
#include "base/uuid.h"

const char *pawl_version(void) { return PAWL_VERSION; }

int pawl_version_number(void) { return PAWL_VERSION_NUMBER; }

pawl_str pawl_text(const char *text) { return text != NULL ? str_from(text) : (pawl_str){NULL, 0}; }

pawl_status pawl_uuid_new(pawl_uuid *id, pawl_error *err) { return uuid_next(id, err); }

bool pawl_uuid_parse(pawl_str text, pawl_uuid *id) { return uuid_parse(text, id); }

char *pawl_uuid_format(pawl_uuid id, char text[PAWL_UUID_TEXT_BYTES]) { return uuid_format(id, text); }
