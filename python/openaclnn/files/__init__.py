# SPDX-License-Identifier: Apache-2.0
"""Files of tensors and text: read strictly, written whole."""
