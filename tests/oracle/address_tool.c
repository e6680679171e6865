/* Says of addresses, one a line, whether they are private, for the test in Python that knows. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "http/http.h"

enum { LINE_BYTES = 128 };

int main(void) {
    char line[LINE_BYTES];
    while (fgets(line, sizeof line, stdin) != NULL) {
        struct sockaddr_in v4 = {.sin_family = AF_INET};
        struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
        line[strcspn(line, "\n")] = '\0';
        const struct sockaddr *address = NULL;
        if (inet_pton(AF_INET, line, &v4.sin_addr) == 1)
            address = (const struct sockaddr *)&v4;
        else if (inet_pton(AF_INET6, line, &v6.sin6_addr) == 1)
            address = (const struct sockaddr *)&v6;
        puts(address == NULL ? "?" : http_address_is_private(address) ? "private" : "public");
    }
    return 0;
}
