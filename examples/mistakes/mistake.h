/* SPDX-License-Identifier: Apache-2.0 */
/* What the mistakes share: how they show what they were told. */
#ifndef OPENACLNN_EXAMPLES_MISTAKES_MISTAKE_H_
#define OPENACLNN_EXAMPLES_MISTAKES_MISTAKE_H_

#include "../example.h"

/* Prints the call's code and the library's words. */
#define TELL(call)                                                                \
  do {                                                                            \
    const int code_ = (call);                                                     \
    const char* words_ = aclGetRecentErrMsg();                                    \
    printf("%s returns %d\n  %s\n", #call, code_, words_ == NULL ? "-" : words_); \
  } while (0)

static inline Tensor MakeFloats(int64_t count, float value) {
  return MakeFilled(ACL_FLOAT, 1, &count, &value);
}

#endif /* OPENACLNN_EXAMPLES_MISTAKES_MISTAKE_H_ */
