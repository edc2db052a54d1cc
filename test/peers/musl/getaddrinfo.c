/* Says what getaddrinfo finds for each name: `name: address address`, in no order, or why it finds nothing. */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>

static void show(const struct addrinfo *found) {
  const void *address = found->ai_family == AF_INET6
                            ? (const void *)&((const struct sockaddr_in6 *)found->ai_addr)->sin6_addr
                            : (const void *)&((const struct sockaddr_in *)found->ai_addr)->sin_addr;
  char text[INET6_ADDRSTRLEN];
  printf(" %s", inet_ntop(found->ai_family, address, text, sizeof text));
}

int main(int count, char **names) {
  for (int i = 1; i < count; i++) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    int code = getaddrinfo(names[i], NULL, &hints, &list);
    printf("%s:", names[i]);
    if (code == 0)
      for (const struct addrinfo *found = list; found; found = found->ai_next) show(found);
    else
      printf(" %s", gai_strerror(code));
    puts("");
    if (list) freeaddrinfo(list);
  }
}
