# SPDX-License-Identifier: Apache-2.0
"""Looks at what a program would load here: the command `openaclnn doctor`."""
