/* Fuzzes addresses: what is called and connected to, what is private, and brokers' with their passwords. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/str.h"
#include "fuzz.h"
#include "http/http.h"
#include "transport/address.h"

static bool private_v4(const uint8_t *bytes) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    memcpy(&address.sin_addr, bytes, 4);
    return http_address_is_private((const struct sockaddr *)&address);
}

static bool private_v6(const uint8_t *bytes) {
    struct sockaddr_in6 address = {.sin6_family = AF_INET6};
    memcpy(&address.sin6_addr, bytes, 16);
    return http_address_is_private((const struct sockaddr *)&address);
}

/* An address of IPv4 in the clothes of IPv6 is judged as what it is. */
static void fuzz_private(const uint8_t *four) {
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF}, nat64[12] = {0, 0x64, 0xFF, 0x9B};
    uint8_t six[16] = {0};
    bool hidden = private_v4(four);
    memcpy(six, mapped, 12);
    memcpy(six + 12, four, 4);
    must(private_v6(six) == hidden);
    memcpy(six, nat64, 12);
    must(private_v6(six) == hidden);
    memset(six, 0, 12);
    must(private_v6(six));
    memcpy(six, (uint8_t[]){0x20, 0x02}, 2);
    memcpy(six + 2, four, 4);
    must(private_v6(six) == hidden);
    uint32_t number = ntohl(*(const uint32_t *)(const void *)memcpy(six, four, 4));
    if (number >> 24 == 127 || number >> 24 == 10 || number >> 16 == 0xA9FE || number >> 16 == 0xC0A8)
        must(hidden);
}

static void fuzz_broker(pawl_str text) {
    static const char secret[] = "S3CR3Tpassw0rd";
    if (memmem(text.ptr, text.len, secret, sizeof secret - 1) != NULL ||
        memchr(text.ptr, 0, text.len) != NULL)
        return;
    struct arena *arena = arena_create(0);
    struct address address;
    pawl_error err = {0};
    const char *plain = arena_printf(arena, "%.*s", STR_ARG(text));
    const char *with = arena_printf(arena, "redis://user:%s@%s", secret, plain);
    if (address_parse(arena, plain, &address, &err) == PAWL_OK)
        must(address.scheme[0] != '\0' && address.host != NULL && address.port >= 0 && address.port <= 65535);
    else
        must(err.text[0] != '\0');
    if (address_parse(arena, with, &address, &err) != PAWL_OK)
        must(strstr(err.text, secret) == NULL);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size >= 4)
        fuzz_private(data);
    if (size >= 16)
        (void)private_v6(data);
    if (size > 2048)
        return 0;
    fuzz_broker((pawl_str){(const char *)data, size});
    char url[2049];
    pawl_error err;
    memcpy(url, data, size);
    url[size] = '\0';
    if (http_check_url(url, &err) == PAWL_OK)
        must(strncasecmp(str_trim(str_from(url)).ptr, "http", 4) == 0 || strstr(url, "://") == NULL);
    return 0;
}
