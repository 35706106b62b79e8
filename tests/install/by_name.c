// SPDX-License-Identifier: Apache-2.0
// Loads the libraries by name, as adapters do: each argument is a name of the operator library.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "openaclnn/version.h"

int main(int argc, char** argv) {
  void *embedding = NULL, *create_tensor = NULL;
  if (argc < 2) return 2;
  for (int i = 1; i < argc; ++i) {
    void* library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    /* Adapters look the meta API up in the operators' library; all names must give one library. */
    void* here[2] = {dlsym(library, "aclnnEmbedding"), dlsym(library, "aclCreateTensor")};
    if (i == 1) embedding = here[0], create_tensor = here[1];
    if (here[0] == NULL || here[1] == NULL || here[0] != embedding || here[1] != create_tensor) {
      fprintf(stderr, "%s: aclnnEmbedding %p, aclCreateTensor %p, expected %p and %p\n", argv[i],
              here[0], here[1], embedding, create_tensor);
      return 1;
    }
  }

  void* runtime = dlopen("libascendcl.so", RTLD_NOW);
  const char* (*version)(void) = NULL;
  if (runtime != NULL) *(void**)&version = dlsym(runtime, "openaclnnGetVersion");
  if (version == NULL || strcmp(version(), OPENACLNN_VERSION_STRING) != 0) {
    fprintf(stderr, "libascendcl.so is not openaclnn %s\n", OPENACLNN_VERSION_STRING);
    return 1;
  }
  return 0;
}
