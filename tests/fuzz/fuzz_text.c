/* Fuzzes what reads foreign text: names, fingerprints, hashes, addresses with passwords. */
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/options/url.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "domain/failure/fingerprint.h"
#include "domain/name.h"
#include "fuzz.h"

/* The password of a well-formed address must not survive, whatever stands around it. */
static void fuzz_address(pawl_str text) {
    static const char secret[] = "S3CR3Tpassw0rd";
    if (memmem(text.ptr, text.len, secret, sizeof(secret) - 1) != NULL)
        return; /* the fuzzer has learnt the word and writes it elsewhere */
    struct buf url;
    struct buf shown;
    buf_init(&url, 0);
    buf_init(&shown, 0);
    buf_append_cstr(&url, "postgres://user:S3CR3Tpassw0rd@host/db?");
    buf_append_str(&url, text);
    url_redact(&shown, buf_str(&url));
    must(strstr(shown.ptr, secret) == NULL);
    buf_reset(&shown);
    url_redact(&shown, text);
    buf_free(&url);
    buf_free(&shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pawl_str text = {(const char *)data, size};
    pawl_error err;
    if (name_check_stream(text, &err) != PAWL_OK)
        must(memchr(err.text, '\0', sizeof(err.text)) != NULL);
    if (name_check_schema(text, &err) == PAWL_OK) {
        must(size > 0 && size <= 31);
        for (size_t i = 0; i < size; i++)
            must(data[i] != 0 && strchr("abcdefghijklmnopqrstuvwxyz_0123456789", data[i]) != NULL);
    }

    char pattern[FINGERPRINT_TEXT_BYTES];
    char print[FINGERPRINT_BYTES];
    must(strlen(fingerprint_normalize(text, pattern)) < sizeof(pattern));
    must(strlen(fingerprint(text, print)) == sizeof(print) - 1);

    must(partition_of(text, 10000) < 10000);
    fuzz_address(text);
    return 0;
}
