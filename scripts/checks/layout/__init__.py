# SPDX-License-Identifier: Apache-2.0
"""The rules of scripts/checks/check_layout.py: one module for each thing that they look at."""
