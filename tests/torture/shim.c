// Loaded with LD_PRELOAD. TORTURE=KIND:N:HOW:LAST makes calls N to LAST of a kind go wrong, counted from 1 after main()
// has begun. KIND is `files` (open, read, write, fsync, rename, close, unlink), `writes` (half is written), or
// `memory` (malloc and the like, so new too). HOW is kill (SIGKILL, before a call of `files`), slow (5 ms, and half of
// the bytes), or the errno that the call returns. With TORTURE_COUNT=FILE, FILE gets the numbers of calls of each kind.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long files, writes, memory;
static atomic_int started;
static long first, last;
static int error, kills, sleeps;
static atomic_long* counter;

static void configure(void) {
  const char* wanted = getenv("TORTURE");
  char kind[8] = "", how[8] = "";
  if (!wanted || sscanf(wanted, "%7[^:]:%ld:%7[^:]:%ld", kind, &first, how, &last) != 4) return;
  counter = strcmp(kind, "memory") == 0 ? &memory : strcmp(kind, "writes") == 0 ? &writes : &files;
  kills = strcmp(how, "kill") == 0;
  sleeps = strcmp(how, "slow") == 0;
  error = atoi(how);
}

static int (*real_main)(int, char**, char**);

static int counted_main(int argc, char** argv, char** environment) {
  configure();
  started = 1;
  const int status = real_main(argc, argv, environment);
  started = 0;
  const char* path = getenv("TORTURE_COUNT");
  FILE* file = path ? fopen(path, "w") : NULL;
  if (file) {
    fprintf(file, "%ld %ld %ld\n", (long)files, (long)writes, (long)memory);
    fclose(file);
  }
  return status;
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void* stack_end) {
  real_main = main;
  int (*start)() = (int (*)())dlsym(RTLD_NEXT, "__libc_start_main");
  return start(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

static int is_due(atomic_long* kind) {
  if (!started) return 0;
  const long n = ++*kind;
  return kind == counter && n >= first && n <= last;
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

// Whether the call fails, with errno set. Does not return if the fault is a kill.
static int goes_wrong(void) {
  if (!is_due(&files)) return 0;
  if (kills) die();
  if (sleeps) usleep(5000);
  errno = error;
  return error != 0;
}

#define NEXT(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))

// How many bytes a slow disk transfers in one call.
static size_t some(size_t size) { return sleeps && size > 1 ? size / 2 : size; }

ssize_t write(int file, const void* bytes, size_t size) {
  ssize_t (*real)(int, const void*, size_t) = dlsym(RTLD_NEXT, "write");
  if (is_due(&writes)) {
    real(file, bytes, size / 2);
    die();
  }
  return goes_wrong() ? -1 : real(file, bytes, some(size));
}

ssize_t read(int file, void* bytes, size_t size) {
  return goes_wrong() ? -1 : NEXT(ssize_t, read, int, void*, size_t)(file, bytes, some(size));
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = flags & O_CREAT ? va_arg(more, int) : 0;
  va_end(more);
  return goes_wrong() ? -1 : NEXT(int, open, const char*, int, ...)(path, flags, mode);
}

int fsync(int file) { return goes_wrong() ? -1 : NEXT(int, fsync, int)(file); }

int rename(const char* from, const char* to) {
  return goes_wrong() ? -1 : NEXT(int, rename, const char*, const char*)(from, to);
}

int unlink(const char* path) { return goes_wrong() ? -1 : NEXT(int, unlink, const char*)(path); }

int close(int file) {
  const int is_wrong = goes_wrong(), why = errno;
  const int result = NEXT(int, close, int)(file);
  if (!is_wrong) return result;
  errno = why;
  return -1;
}

// glibc's own functions, because dlsym() allocates.
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static int runs_out(void) {
  if (!is_due(&memory)) return 0;
  if (kills) die();
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) { return runs_out() ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return runs_out() ? NULL : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return runs_out() ? NULL : __libc_realloc(old, size); }
void* aligned_alloc(size_t alignment, size_t size) { return runs_out() ? NULL : __libc_memalign(alignment, size); }
int posix_memalign(void** result, size_t alignment, size_t size) {
  if (runs_out()) return ENOMEM;
  *result = __libc_memalign(alignment, size);
  return *result ? 0 : ENOMEM;
}
