/* Makes every fsync of a process take longer, as on a slower disk. See bench/store.mjs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void wait_as_told(void) {
  const char *told = getenv("SLOW_FSYNC_MS");
  long us = told ? (long)(atof(told) * 1000) : 0;
  struct timespec time = {us / 1000000, us % 1000000 * 1000};
  if (us > 0) nanosleep(&time, NULL);
}

int fsync(int file) {
  wait_as_told();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}

int fdatasync(int file) {
  wait_as_told();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file);
}
