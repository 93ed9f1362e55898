/* Apache's C client against a ZooKeeper server: its synchronous calls, watches, ACLs and multi. argv[1]: host:port. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

static int passed, failed;
static char root[64];
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static int connected;
static int events[16];
static int event_count;

static void check(const char *name, int ok) {
  if (ok) {
    passed++;
    printf("ok c %s\n", name);
  } else {
    failed++;
    printf("FAIL c %s\n", name);
  }
}

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx) {
  (void)zh;
  (void)path;
  (void)ctx;
  pthread_mutex_lock(&mu);
  if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE) {
    connected++;
  } else if (type != ZOO_SESSION_EVENT && event_count < 16) {
    events[event_count++] = type;
  }
  pthread_mutex_unlock(&mu);
}

/* until waits until a counter has a value, a minute at most. */
static int until(int *what, int value) {
  for (int i = 0; i < 6000; i++) {
    pthread_mutex_lock(&mu);
    int now = *what;
    pthread_mutex_unlock(&mu);
    if (now >= value) return 1;
    usleep(10000);
  }
  return 0;
}

static const char *at(const char *name) {
  static char path[4][128];
  static int next;
  next = (next + 1) % 4;
  snprintf(path[next], sizeof path[next], "%s%s", root, name);
  return path[next];
}

static void nodes(zhandle_t *zh) {
  char buf[256];
  int len = sizeof buf;
  struct Stat stat;
  check("create", zoo_create(zh, root, "x", 1, &ZOO_OPEN_ACL_UNSAFE, 0, buf, sizeof buf) == ZOK && !strcmp(buf, root));
  check("create again", zoo_create(zh, root, "x", 1, &ZOO_OPEN_ACL_UNSAFE, 0, buf, sizeof buf) == ZNODEEXISTS);
  check("create without a parent", zoo_create(zh, at("/no/no"), 0, -1, &ZOO_OPEN_ACL_UNSAFE, 0, buf, sizeof buf) == ZNONODE);
  check("get", zoo_get(zh, root, 0, buf, &len, &stat) == ZOK && len == 1 && buf[0] == 'x' && stat.version == 0);
  check("set", zoo_set2(zh, root, "yz", 2, 0, &stat) == ZOK && stat.version == 1 && stat.dataLength == 2);
  check("set of another version", zoo_set(zh, root, "q", 1, 0) == ZBADVERSION);
  check("null data", zoo_create(zh, at("/null"), 0, -1, &ZOO_OPEN_ACL_UNSAFE, 0, buf, sizeof buf) == ZOK);
  len = sizeof buf;
  check("null data read", zoo_get(zh, at("/null"), 0, buf, &len, &stat) == ZOK && len == -1);
  check("sequential", zoo_create(zh, at("/s-"), 0, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_SEQUENCE | ZOO_EPHEMERAL, buf, sizeof buf) == ZOK &&
                          strlen(buf) == strlen(root) + 3 + 10);
  struct String_vector names;
  check("children", zoo_get_children2(zh, root, 0, &names, &stat) == ZOK && names.count == 2 && stat.numChildren == 2);
  deallocate_String_vector(&names);
  check("delete with children", zoo_delete(zh, root, -1) == ZNOTEMPTY);
  check("delete", zoo_delete(zh, at("/null"), 0) == ZOK && zoo_exists(zh, at("/null"), 0, &stat) == ZNONODE);
  check("container", zoo_create2_ttl(zh, at("/c"), 0, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_CONTAINER, -1, buf, sizeof buf, &stat) == ZOK);
  check("ttl", zoo_create2_ttl(zh, at("/ttl"), 0, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT_WITH_TTL, 60000, buf, sizeof buf, &stat) == ZOK);
}

static void watches(zhandle_t *zh) {
  char buf[256];
  int len = sizeof buf;
  struct Stat stat;
  struct String_vector names;
  check("exists sets a watch", zoo_wexists(zh, at("/w"), on_event, 0, &stat) == ZNONODE);
  zoo_create(zh, at("/w"), 0, -1, &ZOO_OPEN_ACL_UNSAFE, 0, buf, sizeof buf);
  check("created", until(&event_count, 1) && events[0] == ZOO_CREATED_EVENT);
  check("get sets a watch", zoo_wget(zh, at("/w"), on_event, 0, buf, &len, &stat) == ZOK);
  zoo_set(zh, at("/w"), "1", 1, -1);
  check("changed", until(&event_count, 2) && events[1] == ZOO_CHANGED_EVENT);
  check("children sets a watch", zoo_wget_children(zh, at("/w"), on_event, 0, &names) == ZOK && names.count == 0);
  zoo_create(zh, at("/w/c"), 0, -1, &ZOO_OPEN_ACL_UNSAFE, 0, buf, sizeof buf);
  check("child", until(&event_count, 3) && events[2] == ZOO_CHILD_EVENT);
  zoo_wexists(zh, at("/w/c"), on_event, 0, &stat);
  zoo_delete(zh, at("/w/c"), -1);
  check("deleted", until(&event_count, 4) && events[3] == ZOO_DELETED_EVENT);
}

static void access_lists(zhandle_t *zh, zhandle_t *other) {
  char buf[256];
  int len = sizeof buf;
  struct Stat stat;
  struct ACL_vector acl;
  check("add_auth", zoo_add_auth(zh, "digest", "u:p", 3, 0, 0) == ZOK);
  check("creator's node", zoo_create(zh, at("/acl"), "x", 1, &ZOO_CREATOR_ALL_ACL, 0, buf, sizeof buf) == ZOK);
  check("no permission", zoo_get(other, at("/acl"), 0, buf, &len, &stat) == ZNOAUTH);
  check("get_acl", zoo_get_acl(zh, at("/acl"), &acl, &stat) == ZOK && acl.count == 1 && !strcmp(acl.data[0].id.scheme, "digest"));
  deallocate_ACL_vector(&acl);
  check("set_acl", zoo_set_acl(zh, at("/acl"), 0, &ZOO_READ_ACL_UNSAFE) == ZOK);
  len = sizeof buf;
  check("read by others", zoo_get(other, at("/acl"), 0, buf, &len, &stat) == ZOK && len == 1);
}

static void multi(zhandle_t *zh) {
  char path[256];
  struct Stat stat;
  zoo_op_t ops[3];
  zoo_op_result_t results[3];
  char m[128], none[128];
  strcpy(m, at("/m"));
  strcpy(none, at("/none"));
  zoo_create_op_init(&ops[0], m, "1", 1, &ZOO_OPEN_ACL_UNSAFE, 0, path, sizeof path);
  zoo_check_op_init(&ops[1], m, 0);
  zoo_set_op_init(&ops[2], m, "22", 2, 0, &stat);
  check("multi", zoo_multi(zh, 3, ops, results) == ZOK && !strcmp(path, m) && stat.version == 1);
  zoo_delete_op_init(&ops[0], m, -1);
  zoo_delete_op_init(&ops[1], none, -1);
  check("multi that fails", zoo_multi(zh, 2, ops, results) == ZNONODE && results[1].err == ZNONODE);
  check("and changes nothing", zoo_exists(zh, m, 0, &stat) == ZOK);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
  snprintf(root, sizeof root, "/c-%lx-%d", (long)time(0), (int)getpid());
  zhandle_t *zh = zookeeper_init(argv[1], on_event, 10000, 0, 0, 0);
  zhandle_t *other = zookeeper_init(argv[1], on_event, 10000, 0, 0, 0);
  check("sessions", zh && other && until(&connected, 2));
  nodes(zh);
  watches(zh);
  access_lists(zh, other);
  multi(zh);
  char ephemeral[128];
  struct Stat stat;
  zoo_create(other, at("/e"), 0, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, ephemeral, sizeof ephemeral);
  check("ephemeral", zoo_exists(zh, ephemeral, 0, &stat) == ZOK && stat.ephemeralOwner == zoo_client_id(other)->client_id);
  check("close", zookeeper_close(other) == ZOK);
  check("ephemeral goes", zoo_exists(zh, ephemeral, 0, &stat) == ZNONODE);
  zookeeper_close(zh);
  printf("%d passed, %d failed\n", passed, failed);
  return failed || !passed;
}
