/* libwebgpu_dawn: the functions of the Dawn inside PyPI's wgpudawn, without Python.

   The one current Dawn that a package registry offers is linked into a Python extension, which exports no function of
   webgpu.h. It keeps a table of them for cffi and hands its address over when it is initialised. This library stands
   in for the fourteen names of Python that the extension asks for, opens the extension beside itself, initialises it,
   takes the table, and looks functions up in it.

     cc -O2 -shared -fPIC -DKGEN_DAWN_VERSION='"0.32.0.4"' -o libwebgpu_dawn.so stub.c

   The layout of the table is cffi's, unchanged since its version 1.0, but nobody promises it: version and hash of the
   extension are pinned. What of Python is called beyond initialisation would be wrong here, and is not called. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef KGEN_DAWN_VERSION
#define KGEN_DAWN_VERSION ""
#endif

/* cffi's table: entries sorted by name, and where initialisation passes it. */
struct entry {
  const char *name;
  void *python;   /* the wrapper for Python */
  void *type;
  void *function; /* the C function itself */
};
struct table {
  void **types;
  const struct entry *entries;
  void *fields, *structs, *enums, *typenames;
  int count;
};

static void **passed; /* what the extension passes to cffi: word 3 is the table */
static long object[8];

long _Py_NoneStruct[8];
void *PyImport_ImportModule(const char *name) { (void)name; return object; }
void *PyLong_FromVoidPtr(void *p) { passed = p; return object; }
void *PyObject_CallMethod(void *o, const char *name, const char *format, ...) { (void)o; (void)name; (void)format; return object; }
void _Py_Dealloc(void *o) { (void)o; }
int PyArg_UnpackTuple(void) { return 0; }
void *PyErr_Occurred(void) { return 0; }
void PyEval_RestoreThread(void *t) { (void)t; }
void *PyEval_SaveThread(void) { return 0; }
double PyFloat_AsDouble(void *o) { (void)o; return 0; }
void *PyLong_FromLong(long n) { (void)n; return object; }
void *PyLong_FromUnsignedLong(unsigned long n) { (void)n; return object; }
void PyObject_Free(void *p) { free(p); }
void *PyObject_Malloc(size_t n) { return malloc(n); }

static const struct table *table;
static char trouble[8192];

static void fail(const char *what, const char *detail) {
  snprintf(trouble, sizeof trouble, "%s: %s", what, detail ? detail : "no reason given");
}

/* Runs once, when this library is loaded. */
__attribute__((constructor)) static void open_extension(void) {
  static const char name[] = "_wgpu_dawn.abi3.so";
  char path[4096];
  Dl_info self;
  if (!dladdr((void *)open_extension, &self) || !self.dli_fname) {
    fail("libwebgpu_dawn", "can't tell where it was loaded from");
    return;
  }
  const char *slash = strrchr(self.dli_fname, '/');
  int folder = slash ? (int)(slash - self.dli_fname) + 1 : 0;
  if (folder + sizeof name > sizeof path) {
    fail("libwebgpu_dawn", "its path is too long");
    return;
  }
  snprintf(path, sizeof path, "%.*s%s", folder, self.dli_fname, name);
  /* The extension looks Python's names up among the global ones, so those of this library must become global. */
  if (!dlopen(self.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD)) {
    fail("libwebgpu_dawn", dlerror());
    return;
  }
  void *extension = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!extension) {
    fail("the extension beside libwebgpu_dawn can't be loaded", dlerror());
    return;
  }
  void (*initialise)(void) = (void (*)(void))dlsym(extension, "PyInit__wgpu_dawn");
  if (!initialise) {
    fail(path, "not the extension of wgpudawn");
    return;
  }
  initialise();
  if (!passed || !passed[3]) {
    fail(path, "it handed over no table of functions");
    return;
  }
  table = passed[3];
}

/* Returns the address of a function, or null. */
void *kgen_dawn_find(const char *name) {
  for (int i = 0; table && i < table->count; i++)
    if (!strcmp(table->entries[i].name, name)) return table->entries[i].function;
  return 0;
}

/* Returns why there are no functions; empty when there are. */
const char *kgen_dawn_error(void) { return trouble; }

/* Returns the version of the package that the extension was taken from. */
const char *kgen_dawn_version(void) { return KGEN_DAWN_VERSION; }
