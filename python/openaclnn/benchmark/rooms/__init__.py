# SPDX-License-Identifier: Apache-2.0
"""The measured cases of the operators, a module a family."""
