/* Recognising private addresses, which untrusted configuration must not make us call. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "http/http.h"

struct address_range {
    uint32_t base;
    int bits;
};

/* The blocks of the IANA special-purpose registry that are not globally reachable. */
static const struct address_range ranges[] = {
    {0x00000000, 8},  /* this network */
    {0x0A000000, 8},  /* private */
    {0x64400000, 10}, /* carrier's own */
    {0x7F000000, 8},  /* loopback */
    {0xA9FE0000, 16}, /* link-local, including the metadata services of clouds */
    {0xAC100000, 12}, /* private */
    {0xC0000000, 24}, /* protocol assignments */
    {0xC0000200, 24}, /* documentation */
    {0xC0586300, 24}, /* 6to4 relays */
    {0xC0A80000, 16}, /* private */
    {0xC6120000, 15}, /* benchmarking */
    {0xC6336400, 24}, /* documentation */
    {0xCB007100, 24}, /* documentation */
    {0xE0000000, 4},  /* multicast */
    {0xF0000000, 4},  /* reserved, broadcast */
};

static bool private_v4(uint32_t address) {
    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
        uint32_t mask = ~UINT32_C(0) << (32 - ranges[i].bits);
        if ((address & mask) == ranges[i].base)
            return true;
    }
    return false;
}

static uint32_t v4_at(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool private_v6(const uint8_t *b) {
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    static const uint8_t nat64[12] = {0, 0x64, 0xFF, 0x9B};
    static const uint8_t zero[12] = {0};
    if (memcmp(b, mapped, 12) == 0 || memcmp(b, nat64, 12) == 0)
        return private_v4(v4_at(b + 12));
    if (memcmp(b, zero, 12) == 0)
        return true; /* ::, ::1, and deprecated IPv4-compatible addresses */
    if (b[0] == 0x20 && b[1] == 0x02)
        return private_v4(v4_at(b + 2)); /* 6to4 */
    if (b[0] == 0x20 && b[1] == 0x01 && b[2] == 0x0D && b[3] == 0xB8)
        return true; /* documentation */
    if (b[0] == 0x20 && b[1] == 0x01 && b[2] < 0x02)
        return true;              /* protocol assignments, Teredo */
    return (b[0] & 0xE0) != 0x20; /* only 2000::/3 is the public network */
}

bool http_address_is_private(const struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof(v4));
        return private_v4(ntohl(v4.sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof(v6));
        return private_v6(v6.sin6_addr.s6_addr);
    }
    return true;
}
