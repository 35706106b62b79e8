# SPDX-License-Identifier: Apache-2.0
"""A module for each family whose splits are compared with one rank."""
