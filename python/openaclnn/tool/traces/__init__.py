# SPDX-License-Identifier: Apache-2.0
"""Traces that OPENACLNN_TRACE wrote: the command `openaclnn trace`."""
