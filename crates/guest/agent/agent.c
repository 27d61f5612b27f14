// The first program of a guest: it opens sockets, moves their data and tells of their state.
//
// It is driven by frames on eth1 (see ../src/agent.rs). Nothing here waits in a loop: a guest that
// spins stops the clock.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/genetlink.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TYPE 0x88b5
#define TCP_INFO_OPTION 11
#define TCP_CONGESTION_OPTION 13
#define MPTCP 262
#define SOL_MPTCP_LEVEL 284
#define MPTCP_TCPINFO_OPTION 2
#define MPTCP_ADDRESSES_OPTION 3
// The path manager's messages (include/uapi/linux/mptcp_pm.h), in names of our own: older headers do not
// have them all.
enum { PM_ADD = 1, PM_LIMITS = 5, PM_CREATE = 10 };
enum { PM_ADDRESS = 1, PM_ACCEPTED = 2, PM_SUBFLOWS = 3, PM_TOKEN = 4, PM_REMOTE = 6 };
enum { PM_FAMILY = 1, PM_ADDR4 = 3, PM_PORT = 5, PM_FLAGS = 6, PM_INTERFACE = 7 };
enum { EVENT_ESTABLISHED = 2 };
enum { EVENT_TOKEN = 1, EVENT_PEER4 = 7, EVENT_PEER_PORT = 10, EVENT_SERVER_SIDE = 18 };
#define PM_SUBFLOW 2
#define PM_BACKUP 4
#define MOST_SUBFLOWS 8
#define MOST_SOCKETS 4096
#define CHUNK (256 * 1024)
// What a program writes by one call.
#define BLOCK (128 * 1024)

enum { ADD_ADDRESS = 1, SET, LISTEN, CONNECT, WRITE, FOREVER, CLOSE, PING, RUN, RECEIVE_OFFLOAD, HOSTS, SUBFLOW };
enum {
    READY = 101, ESTABLISHED, DELIVERED, PEER_CLOSED, CLOSED, ABORTED, SAMPLE, ECHO, OUTPUT, ENDED,
    FAILED
};

struct message {
    uint8_t to[6], from[6];
    uint16_t type;
    uint16_t op, len;
    uint32_t socket;
    uint64_t number;
    uint8_t bytes[1464];
} __attribute__((packed));

struct end {
    uint8_t ip[4];
    uint16_t port, unused;
};

struct ends {
    struct end own, peer;
    uint16_t is_multipath, sample_ms;
    char congestion[16];
};

enum kind { FREE, LISTENER, OPENING, OPEN };

// Writes as programs do: by calls that return when all of it is taken.
struct writer {
    int fd;
    uint32_t number;
    int for_ever, closes, is_gone;
    uint64_t left;
    pthread_cond_t more;
};

struct connection {
    int fd;
    enum kind kind;
    struct writer *writer;
    int writes_for_ever, closes, is_shut, peer_closed, is_multipath, is_watched;
    uint64_t left;
    unsigned sample_ms, since_sample;
    uint32_t events;
};

static struct connection sockets[MOST_SOCKETS];
static unsigned used_sockets;
static int control, poller, echo = -1, ticker = -1;
static unsigned tick_ms, addresses;
static uint32_t echoes_left, echo_to;
static struct timespec echo_at;
static char data[CHUNK];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Numbers of what is waited for, beyond those of sockets.
enum { CONTROL = MOST_SOCKETS, TICK, PONG, PROGRAM, READER, PATHS };
static int program = -1;
static int readers[2];
static pid_t child;

static void tell(int op, uint32_t socket, uint64_t number, const void *bytes, size_t len)
{
    struct message m = {.type = htons(TYPE), .op = op, .socket = socket, .number = number};
    memset(m.to, 0xff, 6);
    if (len > sizeof m.bytes)
        len = sizeof m.bytes;
    m.len = len;
    if (len)
        memcpy(m.bytes, bytes, len);
    send(control, &m, sizeof m - sizeof m.bytes + len, 0);
}

static void failed(uint32_t socket, const char *what)
{
    char text[200];
    snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
    tell(FAILED, socket, errno, text, strlen(text));
}

static void watch(int fd, uint32_t number, uint32_t events, int op)
{
    struct epoll_event event = {.events = events, .data.u32 = number};
    epoll_ctl(poller, op, fd, &event);
}

static void wants(uint32_t number, uint32_t events)
{
    struct connection *c = &sockets[number];
    if (!c->is_multipath)
        events &= ~EPOLLIN;
    if (c->events != events && c->is_watched) {
        watch(c->fd, number, events, EPOLL_CTL_MOD);
        c->events = events;
    }
}

static int up(const char *name, int flags)
{
    struct ifreq request = {0};
    int s = socket(AF_INET, SOCK_DGRAM, 0), ok;
    strcpy(request.ifr_name, name);
    ioctl(s, SIOCGIFFLAGS, &request);
    request.ifr_flags |= IFF_UP | flags;
    ok = ioctl(s, SIOCSIFFLAGS, &request);
    close(s);
    return ok;
}

// Whether segments that arrive together are put together before TCP sees them.
static void receive_offload(int on)
{
    struct ethtool_value value = {.cmd = ETHTOOL_SGRO, .data = on};
    struct ifreq request = {.ifr_name = "eth0", .ifr_data = (void *)&value};
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    if (ioctl(s, SIOCETHTOOL, &request) < 0)
        failed(0, "receive offload");
    close(s);
}

static void add_address(uint32_t ip)
{
    struct ifreq request = {0};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = ip};
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    // Addresses after the first are aliases: eth0:1, eth0:2, ...
    if (addresses)
        snprintf(request.ifr_name, sizeof request.ifr_name, "eth0:%u", addresses);
    else
        strcpy(request.ifr_name, "eth0");
    addresses++;
    memcpy(&request.ifr_addr, &address, sizeof address);
    if (ioctl(s, SIOCSIFADDR, &request) < 0)
        failed(0, "address");
    address.sin_addr.s_addr = htonl(0xff000000);
    memcpy(&request.ifr_netmask, &address, sizeof address);
    ioctl(s, SIOCSIFNETMASK, &request);
    close(s);
    up("eth0", IFF_NOARP);
}

struct generic {
    struct nlmsghdr head;
    struct genlmsghdr about;
    char attributes[4096];
};

// Each attribute `a` from one place to another.
#define EACH(a, from, to)                                                                            \
    for (struct nlattr *a = (void *)(from); (char *)(a + 1) <= (char *)(to) && a->nla_len >= NLA_HDRLEN \
         && (char *)a + a->nla_len <= (char *)(to); a = (void *)((char *)a + NLA_ALIGN(a->nla_len)))

static void *value_of(struct nlattr *a)
{
    return (char *)a + NLA_HDRLEN;
}

static void put(struct generic *m, int type, const void *bytes, size_t len)
{
    struct nlattr *a = (void *)((char *)m + NLMSG_ALIGN(m->head.nlmsg_len));
    a->nla_type = type;
    a->nla_len = NLA_HDRLEN + len;
    memcpy((char *)a + NLA_HDRLEN, bytes, len);
    m->head.nlmsg_len = NLMSG_ALIGN(m->head.nlmsg_len) + NLA_ALIGN(a->nla_len);
}

static void put_u32(struct generic *m, int type, uint32_t value)
{
    put(m, type, &value, sizeof value);
}

// Sends a message and takes the answer in its place; zero, or an error.
static int ask(int s, struct generic *m)
{
    if (send(s, m, m->head.nlmsg_len, 0) < 0)
        return errno;
    ssize_t len = recv(s, m, sizeof *m, 0);
    if (len < (ssize_t)sizeof m->head)
        return EIO;
    if (m->head.nlmsg_type == NLMSG_ERROR)
        return -*(int *)((char *)m + sizeof m->head);
    return 0;
}

static void start_message(struct generic *m, int type, int command, int version)
{
    memset(m, 0, sizeof *m);
    m->head.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
    m->head.nlmsg_type = type;
    m->head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    m->about.cmd = command;
    m->about.version = version;
}

// Multipath TCP's path manager: a socket to it, and the numbers of its messages and of its events.
static int manager = -1, manager_family;
static uint32_t manager_events;

static int find_manager(void)
{
    struct generic m;
    if (manager >= 0)
        return manager_family;
    manager = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
    start_message(&m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
    m.head.nlmsg_flags = NLM_F_REQUEST;
    put(&m, CTRL_ATTR_FAMILY_NAME, "mptcp_pm", 9);
    int error = ask(manager, &m);
    char *end = (char *)&m + (m.head.nlmsg_len < sizeof m ? m.head.nlmsg_len : sizeof m);
    EACH(a, m.attributes, error ? m.attributes : end) {
        if (a->nla_type == CTRL_ATTR_FAMILY_ID)
            manager_family = *(uint16_t *)value_of(a);
        if (a->nla_type != CTRL_ATTR_MCAST_GROUPS)
            continue;
        EACH(group, value_of(a), (char *)a + a->nla_len) {
            int is_it = 0;
            uint32_t id = 0;
            EACH(b, value_of(group), (char *)group + group->nla_len) {
                if (b->nla_type == CTRL_ATTR_MCAST_GRP_NAME)
                    is_it = !strcmp(value_of(b), "mptcp_pm_events");
                if (b->nla_type == CTRL_ATTR_MCAST_GRP_ID)
                    id = *(uint32_t *)value_of(b);
            }
            if (is_it)
                manager_events = id;
        }
    }
    if (!manager_family) {
        errno = error ? error : ENOENT;
        failed(0, "the path manager of Multipath TCP");
    }
    return manager_family;
}

static void put_address(struct generic *m, int type, uint32_t ip, uint32_t flags, uint16_t port)
{
    uint16_t inet = AF_INET;
    struct nlattr *whole = (void *)((char *)m + m->head.nlmsg_len);
    put(m, type | NLA_F_NESTED, "", 0);
    put(m, PM_FAMILY, &inet, sizeof inet);
    put_u32(m, PM_ADDR4, ip);
    if (port) {
        put(m, PM_PORT, &port, sizeof port);
    } else {
        put_u32(m, PM_FLAGS, PM_SUBFLOW | flags);
        put_u32(m, PM_INTERFACE, if_nametoindex("eth0"));
    }
    whole->nla_len = (char *)m + m->head.nlmsg_len - (char *)whole;
}

// Tells the path manager in the kernel of an address, or, without one, of how many subflows there may be.
static void path_manager(uint32_t ip, uint32_t flags)
{
    struct generic m;
    if (!find_manager())
        return;
    start_message(&m, manager_family, ip ? PM_ADD : PM_LIMITS, 1);
    if (ip) {
        put_address(&m, PM_ADDRESS, ip, flags, 0);
    } else {
        put_u32(&m, PM_ACCEPTED, MOST_SUBFLOWS);
        put_u32(&m, PM_SUBFLOWS, MOST_SUBFLOWS);
    }
    if ((errno = ask(manager, &m)))
        failed(0, "the path manager of Multipath TCP");
}

// Where this program is the path manager: the addresses from which it opens subflows, and what the kernel
// tells it of connections.
static struct { uint32_t ip, flags; } further[MOST_SUBFLOWS];
static unsigned further_count;
static int events = -1;

static void manage_paths(void)
{
    struct sockaddr_nl own = {.nl_family = AF_NETLINK};
    if (events >= 0 || !find_manager())
        return;
    events = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
    if (bind(events, (void *)&own, sizeof own) < 0
        || setsockopt(events, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &manager_events, sizeof manager_events) < 0)
        failed(0, "events of Multipath TCP");
    watch(events, PATHS, EPOLLIN, EPOLL_CTL_ADD);
}

static void further_path(uint32_t ip, uint32_t flags)
{
    if (further_count < MOST_SUBFLOWS) {
        further[further_count].ip = ip;
        further[further_count++].flags = flags;
    }
}

// A connection that this machine opened has its first acknowledgment of data: it may have more subflows.
static void on_paths(void)
{
    struct generic m;
    ssize_t len = recv(events, &m, sizeof m, 0);
    uint32_t token = 0, peer = 0;
    uint16_t port = 0;
    int is_server = 0;
    if (len < (ssize_t)(sizeof m - sizeof m.attributes) || m.head.nlmsg_type != manager_family
        || m.about.cmd != EVENT_ESTABLISHED)
        return;
    EACH(a, m.attributes, (char *)&m + len) {
        if (a->nla_type == EVENT_TOKEN)
            token = *(uint32_t *)value_of(a);
        if (a->nla_type == EVENT_PEER4)
            peer = *(uint32_t *)value_of(a);
        if (a->nla_type == EVENT_PEER_PORT)
            port = ntohs(*(uint16_t *)value_of(a));
        if (a->nla_type == EVENT_SERVER_SIDE)
            is_server = *(uint8_t *)value_of(a);
    }
    for (unsigned n = 0; n < further_count && peer && !is_server; n++) {
        start_message(&m, manager_family, PM_CREATE, 1);
        put_u32(&m, PM_TOKEN, token);
        put_address(&m, PM_ADDRESS, further[n].ip, further[n].flags, 0);
        put_address(&m, PM_REMOTE, peer, 0, port);
        if ((errno = ask(manager, &m)))
            failed(0, "a subflow");
    }
}

static void set(char *assignment)
{
    char path[300], *value = strchr(assignment, '=');
    int fd;
    if (!value || strstr(assignment, ".."))
        return;
    *value++ = 0;
    snprintf(path, sizeof path, "/proc/sys/%.200s", assignment);
    fd = open(path, O_WRONLY);
    if (fd < 0 || write(fd, value, strlen(value)) < 0)
        failed(0, path);
    if (fd >= 0)
        close(fd);
    if (!strcmp(assignment, "net/mptcp/pm_type") && *value == '1')
        manage_paths();
}

static void tick(unsigned every_ms)
{
    if (!every_ms || (tick_ms && tick_ms <= every_ms))
        return;
    tick_ms = every_ms;
    if (ticker < 0) {
        ticker = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
        watch(ticker, TICK, EPOLLIN, EPOLL_CTL_ADD);
    }
    struct itimerspec spec = {.it_interval.tv_nsec = every_ms * 1000000L};
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t step = every_ms * 1000000ull;
    uint64_t at = now.tv_sec * 1000000000ull + now.tv_nsec;
    at = (at / step + 1) * step;
    spec.it_value.tv_sec = at / 1000000000;
    spec.it_value.tv_nsec = at % 1000000000;
    timerfd_settime(ticker, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void forget(uint32_t number)
{
    struct connection *c = &sockets[number];
    if (c->writer) {
        pthread_mutex_lock(&lock);
        c->writer->is_gone = 1;
        pthread_cond_signal(&c->writer->more);
        pthread_mutex_unlock(&lock);
    }
    if (c->fd >= 0)
        close(c->fd);
    memset(c, 0, sizeof *c);
    c->fd = -1;
}

static void sample(uint32_t number)
{
    struct connection *c = &sockets[number];
    if (c->is_multipath) {
        // A head with the number of paths and the size of each, then tcp_info of each.
        struct {
            uint32_t head, count, kernel_size, size;
            char each[MOST_SUBFLOWS * 256];
        } info = {.head = 16, .size = 256}, ends = {.head = 16, .size = 256};
        socklen_t len = sizeof info, ends_len = sizeof ends;
        if (getsockopt(c->fd, SOL_MPTCP_LEVEL, MPTCP_TCPINFO_OPTION, &info, &len)
            || getsockopt(c->fd, SOL_MPTCP_LEVEL, MPTCP_ADDRESSES_OPTION, &ends, &ends_len))
            return;
        unsigned size = info.kernel_size < 256 ? info.kernel_size : 256;
        for (unsigned n = 0; n < info.count && n < ends.count && n < MOST_SUBFLOWS; n++) {
            // Two places for addresses of any family.
            char *at = ends.each + n * (ends.size <= 256 ? ends.size : 0);
            struct sockaddr_in *own = (void *)at, *peer = (void *)(at + 128);
            uint64_t pair = own->sin_addr.s_addr | (uint64_t)peer->sin_addr.s_addr << 32;
            // As many bytes lie between two as the kernel has of one, if those are fewer.
            tell(SAMPLE, number, pair, info.each + n * (info.size <= 256 ? info.size : 0), size);
        }
        return;
    }
    char info[512];
    socklen_t len = sizeof info;
    if (!getsockopt(c->fd, IPPROTO_TCP, TCP_INFO_OPTION, info, &len))
        tell(SAMPLE, number, 0, info, len);
}

static void ended(uint32_t number, int error)
{
    if (sockets[number].sample_ms)
        sample(number);
    tell(error ? ABORTED : CLOSED, number, error, NULL, 0);
    forget(number);
}

// Hands its writer what there is to do.
static void push(uint32_t number)
{
    struct connection *c = &sockets[number];
    struct writer *writer = c->writer;
    if (c->kind != OPEN || !writer)
        return;
    pthread_mutex_lock(&lock);
    writer->left += c->left;
    writer->for_ever = c->writes_for_ever;
    writer->closes = c->closes;
    c->left = 0;
    pthread_cond_signal(&writer->more);
    pthread_mutex_unlock(&lock);
}

static void pull(uint32_t number)
{
    struct connection *c = &sockets[number];
    uint64_t got = 0;
    ssize_t n;
    do {
        n = recv(c->fd, data, CHUNK, MSG_DONTWAIT | MSG_TRUNC);
        if (n > 0)
            got += n;
    } while (n == CHUNK);
    int error = errno;
    if (got)
        tell(DELIVERED, number, got, NULL, 0);
    if (!n) {
        c->peer_closed = 1;
        wants(number, c->events & ~EPOLLIN);
        tell(PEER_CLOSED, number, 0, NULL, 0);
        if (c->is_shut)
            ended(number, 0);
    } else if (n < 0 && error != EAGAIN) {
        ended(number, error);
    }
}

struct reader {
    int fd;
    uint32_t number;
};

struct last {
    uint32_t number;
    int error, is_writer;
    uint64_t bytes;
};

static void tell_last(struct last last)
{
    if (write(readers[1], &last, sizeof last) != sizeof last)
        failed(last.number, "end");
}

// Reads whatever comes, as it comes, in one call that stays in the kernel: waking a program for each
// segment costs more than TCP does. Who delivers the segments counts them; we tell of the end.
static void *read_all(void *argument)
{
    struct reader reader = *(struct reader *)argument;
    struct last last = {.number = reader.number};
    ssize_t n;
    free(argument);
    while ((n = recv(reader.fd, data, 1 << 30, MSG_WAITALL | MSG_TRUNC)) > 0)
        last.bytes += n;
    last.error = n < 0 ? errno : 0;
    close(reader.fd);
    tell_last(last);
    return NULL;
}

static void *write_all(void *argument)
{
    struct writer *writer = argument;
    struct last last = {.number = writer->number, .is_writer = 1};
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!writer->left && !writer->for_ever && !writer->closes && !writer->is_gone)
            pthread_cond_wait(&writer->more, &lock);
        if (writer->is_gone || (!writer->left && !writer->for_ever))
            break;
        size_t size = !writer->for_ever && writer->left < BLOCK ? writer->left : BLOCK;
        pthread_mutex_unlock(&lock);
        ssize_t sent = send(writer->fd, data, size, MSG_NOSIGNAL);
        pthread_mutex_lock(&lock);
        if (sent < 0) {
            last.error = errno;
            break;
        }
        writer->left -= writer->for_ever ? 0 : sent;
    }
    int is_gone = writer->is_gone;
    // Nobody has it any more.
    if (!is_gone)
        sockets[writer->number].writer = NULL;
    pthread_mutex_unlock(&lock);
    if (!is_gone) {
        if (!last.error)
            shutdown(writer->fd, SHUT_WR);
        tell_last(last);
    }
    close(writer->fd);
    free(writer);
    return NULL;
}

static int start(void *(*what)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 * 1024);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    return pthread_create(&thread, &attributes, what, argument);
}

static int start_reader(uint32_t number)
{
    struct reader *reader = malloc(sizeof *reader);
    if (!reader)
        return -1;
    reader->number = number;
    reader->fd = dup(sockets[number].fd);
    return start(read_all, reader);
}

static int start_writer(uint32_t number)
{
    struct writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return -1;
    writer->number = number;
    writer->fd = dup(sockets[number].fd);
    pthread_cond_init(&writer->more, NULL);
    sockets[number].writer = writer;
    return start(write_all, writer);
}

static void on_reader(void)
{
    struct last last;
    while (read(readers[0], &last, sizeof last) == sizeof last) {
        struct connection *c = &sockets[last.number];
        if (c->kind != OPEN)
            continue;
        if (last.error) {
            ended(last.number, last.error);
            continue;
        }
        if (last.is_writer) {
            c->is_shut = 1;
        } else if (!c->peer_closed) {
            c->peer_closed = 1;
            tell(PEER_CLOSED, last.number, last.bytes, NULL, 0);
        }
        if (c->is_shut && c->peer_closed)
            ended(last.number, 0);
    }
}

static void established(uint32_t number)
{
    struct connection *c = &sockets[number];
    c->kind = OPEN;
    // Calls of this program do not wait; those of readers and writers do.
    fcntl(c->fd, F_SETFL, fcntl(c->fd, F_GETFL) & ~O_NONBLOCK);
    wants(number, EPOLLIN);
    if ((!c->is_multipath && start_reader(number)) || start_writer(number)) {
        errno = ENOMEM;
        failed(number, "a thread");
    }
    tell(ESTABLISHED, number, 0, NULL, 0);
    if (c->sample_ms)
        sample(number);
    push(number);
}

static void open_socket(struct message *m, int connects)
{
    struct ends *ends = (void *)m->bytes;
    uint32_t number = m->socket;
    if (number >= MOST_SOCKETS || sockets[number].kind != FREE) {
        errno = EBUSY;
        failed(number, "socket");
        return;
    }
    if (number >= used_sockets)
        used_sockets = number + 1;
    struct connection *c = &sockets[number];
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = ends->own.port};
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = ends->peer.port};
    int one = 1;
    memcpy(&own.sin_addr, ends->own.ip, 4);
    memcpy(&peer.sin_addr, ends->peer.ip, 4);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, ends->is_multipath ? MPTCP : IPPROTO_TCP);
    if (fd < 0) {
        failed(number, "socket");
        return;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (ends->is_multipath)
        path_manager(0, 0);
    if (ends->congestion[0]
        && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION_OPTION, ends->congestion,
                      strlen(ends->congestion)) < 0) {
        failed(number, ends->congestion);
        close(fd);
        return;
    }
    if (bind(fd, (void *)&own, sizeof own) < 0) {
        failed(number, "bind");
        close(fd);
        return;
    }
    c->fd = fd;
    c->is_multipath = ends->is_multipath;
    c->sample_ms = ends->sample_ms;
    tick(c->sample_ms);
    if (connects) {
        c->kind = OPENING;
        c->events = EPOLLOUT;
        if (connect(fd, (void *)&peer, sizeof peer) < 0 && errno != EINPROGRESS) {
            failed(number, "connect");
            forget(number);
            return;
        }
    } else {
        c->kind = LISTENER;
        c->events = EPOLLIN;
        listen(fd, 1);
    }
    watch(fd, number, c->events, EPOLL_CTL_ADD);
    c->is_watched = 1;
}

static void on_socket(uint32_t number, uint32_t events)
{
    struct connection *c = &sockets[number];
    if (c->kind == LISTENER) {
        int fd = accept4(c->fd, NULL, NULL, SOCK_NONBLOCK);
        if (fd < 0)
            return;
        // Further subflows are for the listening socket.
        if (c->is_multipath)
            watch(c->fd, number, 0, EPOLL_CTL_DEL);
        else
            close(c->fd);
        c->fd = fd;
        c->events = c->is_multipath ? EPOLLIN : 0;
        watch(fd, number, c->events, EPOLL_CTL_ADD);
        established(number);
        return;
    }
    if (c->kind == OPENING) {
        int error = 0;
        socklen_t len = sizeof error;
        getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len);
        if (error)
            ended(number, error);
        else
            established(number);
        return;
    }
    if (c->kind == OPEN && !c->is_multipath && !c->peer_closed && events & (EPOLLHUP | EPOLLERR)) {
        // Its reader is about to say so, and must not wait for us to look again and again.
        watch(c->fd, number, 0, EPOLL_CTL_DEL);
        c->is_watched = 0;
        return;
    }
    if (c->kind == OPEN && events & (EPOLLIN | EPOLLHUP | EPOLLERR) && !c->peer_closed)
        pull(number);
    else if (c->kind == OPEN && events & (EPOLLHUP | EPOLLERR))
        ended(number, 0);
}

static void on_tick(void)
{
    uint64_t times;
    if (read(ticker, &times, sizeof times) != sizeof times)
        return;
    int any = 0;
    for (uint32_t n = 0; n < used_sockets; n++) {
        struct connection *c = &sockets[n];
        any |= c->kind != FREE && c->sample_ms;
        if (c->kind != OPEN || !c->sample_ms)
            continue;
        c->since_sample += tick_ms * times;
        if (c->since_sample >= c->sample_ms) {
            c->since_sample = 0;
            sample(n);
        }
    }
    if (!any) {
        struct itimerspec never = {0};
        timerfd_settime(ticker, 0, &never, NULL);
        tick_ms = 0;
    }
}

static uint16_t sum16(const void *bytes, size_t len)
{
    const uint16_t *half = bytes;
    uint32_t sum = 0;
    for (size_t n = 0; n < len / 2; n++)
        sum += half[n];
    sum = (sum >> 16) + (sum & 0xffff);
    return ~(sum + (sum >> 16));
}

static void ping(void)
{
    struct {
        struct icmphdr head;
        char data[56];
    } request = {.head.type = ICMP_ECHO};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = echo_to};
    request.head.un.echo.id = htons(7);
    request.head.un.echo.sequence = htons(echoes_left);
    request.head.checksum = sum16(&request, sizeof request);
    clock_gettime(CLOCK_MONOTONIC, &echo_at);
    if (sendto(echo, &request, sizeof request, 0, (void *)&to, sizeof to) < 0)
        failed(0, "ping");
}

static void on_pong(void)
{
    char packet[1500];
    struct timespec now;
    ssize_t len = recv(echo, packet, sizeof packet, MSG_DONTWAIT);
    struct icmphdr *head = (void *)(packet + 20);
    if (len < 28 || head->type != ICMP_ECHOREPLY || ntohs(head->un.echo.sequence) != echoes_left)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    tell(ECHO, 0, (now.tv_sec - echo_at.tv_sec) * 1000000000ll + now.tv_nsec - echo_at.tv_nsec,
         NULL, 0);
    if (--echoes_left)
        ping();
}

// The names of the other nodes, for programs.
static void hosts(const char *lines)
{
    int fd = open("/hosts", O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (fd < 0 || write(fd, lines, strlen(lines)) < 0)
        failed(0, "names of nodes");
    if (fd >= 0)
        close(fd);
}

static void run(char *command)
{
    char *const environment[] = {
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/tmp",
        "TMPDIR=/tmp", "LC_ALL=C", NULL};
    int ends[2];
    if (program >= 0 || pipe2(ends, O_CLOEXEC) < 0)
        return;
    child = fork();
    if (!child) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        mkdir("/host", 0755);
        if (mount("none", "/host", "hostfs", MS_RDONLY, "/") < 0
            || mount("/hosts", "/host/etc/hosts", NULL, MS_BIND, NULL) < 0
            || mount("/dev", "/host/dev", NULL, MS_BIND, NULL) < 0 || chroot("/host") < 0
            || chdir("/") < 0 || mount("none", "/tmp", "tmpfs", 0, NULL) < 0
            || mount("none", "/proc", "proc", 0, NULL) < 0) {
            perror("the host's file system");
            _exit(126);
        }
        execle("/bin/sh", "sh", "-c", command, NULL, environment);
        _exit(127);
    }
    close(ends[1]);
    program = ends[0];
    watch(program, PROGRAM, EPOLLIN, EPOLL_CTL_ADD);
}

static void on_program(void)
{
    char text[1400];
    ssize_t len = read(program, text, sizeof text);
    if (len > 0) {
        tell(OUTPUT, 0, 0, text, len);
        return;
    }
    int status = 0;
    waitpid(child, &status, 0);
    close(program);
    program = -1;
    tell(ENDED, 0, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), NULL, 0);
}

static void on_control(void)
{
    struct message m;
    ssize_t len;
    // One at a time: a call that fails takes a microsecond.
    if ((len = recv(control, &m, sizeof m - 1, 0)) >= 30) {
        m.bytes[len - 30] = 0;
        uint32_t number = m.socket;
        struct connection *c = &sockets[number < MOST_SOCKETS ? number : 0];
        switch (m.op) {
        case ADD_ADDRESS:
            add_address(m.number);
            break;
        case SET:
            set((char *)m.bytes);
            break;
        case LISTEN:
        case CONNECT:
            open_socket(&m, m.op == CONNECT);
            break;
        case WRITE:
            c->left += m.number;
            push(number);
            break;
        case FOREVER:
            c->writes_for_ever = 1;
            push(number);
            break;
        case CLOSE:
            c->closes = 1;
            if (c->kind == LISTENER)
                ended(number, 0);
            else
                push(number);
            break;
        case PING:
            if (echo < 0) {
                echo = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
                watch(echo, PONG, EPOLLIN, EPOLL_CTL_ADD);
            }
            echoes_left = m.socket;
            echo_to = m.number;
            ping();
            break;
        case RECEIVE_OFFLOAD:
            receive_offload(m.number);
            break;
        case SUBFLOW:
            add_address(m.number);
            (events >= 0 ? further_path : path_manager)(m.number, m.socket ? PM_BACKUP : 0);
            break;
        case HOSTS:
            hosts((char *)m.bytes);
            break;
        case RUN:
            run((char *)m.bytes);
            break;
        }
    }
}

int main(void)
{
    struct utsname name;
    mount("none", "/dev", "devtmpfs", 0, NULL);
    mount("none", "/proc", "proc", 0, NULL);
    mount("none", "/sys", "sysfs", 0, NULL);
    for (int n = 0; n < MOST_SOCKETS; n++)
        sockets[n].fd = -1;
    poller = epoll_create1(EPOLL_CLOEXEC);
    if (pipe2(readers, O_CLOEXEC | O_NONBLOCK) < 0)
        perror("a pipe");
    watch(readers[0], READER, EPOLLIN, EPOLL_CTL_ADD);
    up("lo", 0);
    up("eth1", IFF_NOARP);
    control = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(TYPE));
    struct sockaddr_ll place = {
        .sll_family = AF_PACKET, .sll_protocol = htons(TYPE), .sll_ifindex = if_nametoindex("eth1")};
    int room = 4 << 20;
    setsockopt(control, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    setsockopt(control, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
    if (bind(control, (void *)&place, sizeof place) < 0) {
        perror("eth1");
        reboot(RB_POWER_OFF);
    }
    watch(control, CONTROL, EPOLLIN, EPOLL_CTL_ADD);
    receive_offload(0);
    uname(&name);
    tell(READY, 0, 0, name.release, strlen(name.release));
    for (;;) {
        struct epoll_event events[64];
        int count = epoll_wait(poller, events, 64, -1);
        for (int n = 0; n < count; n++) {
            uint32_t number = events[n].data.u32;
            if (number == CONTROL)
                on_control();
            else if (number == TICK)
                on_tick();
            else if (number == PONG)
                on_pong();
            else if (number == PROGRAM)
                on_program();
            else if (number == READER)
                on_reader();
            else if (number == PATHS)
                on_paths();
            else if (sockets[number].kind != FREE)
                on_socket(number, events[n].events);
        }
    }
}
