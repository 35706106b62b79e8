# SPDX-License-Identifier: Apache-2.0
"""What is measured of the operators, a module a family."""
