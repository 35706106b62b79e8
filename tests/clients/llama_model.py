# SPDX-License-Identifier: Apache-2.0
"""Writes a llama of two layers with weights by chance, the same every time: llama_model.py FILE.

Its tokens are bytes. Needs the gguf package on PYTHONPATH.
"""

import sys

import gguf
import numpy as np

LAYERS, WIDTH, HEADS, HIDDEN, CONTEXT = 2, 256, 4, 512, 512
TOKENS = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
UNKNOWN, CONTROL, BYTE = 2, 3, 6  # kinds of tokens


def describe(writer):
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(TOKENS))
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(TOKENS)
    writer.add_token_scores([0.0] * len(TOKENS))
    writer.add_token_types([UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)


def fill(writer):
    random = np.random.default_rng(1)

    def add(name, rows, columns, scale=1.0):
        weights = random.standard_normal((rows, columns)) * scale * columns**-0.5
        writer.add_tensor(f"{name}.weight", weights.astype(np.float32))

    add("token_embd", len(TOKENS), WIDTH, WIDTH**0.5)
    for layer in (f"blk.{number}" for number in range(LAYERS)):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"{layer}.{name}", WIDTH, WIDTH)
        add(f"{layer}.ffn_gate", HIDDEN, WIDTH)
        add(f"{layer}.ffn_up", HIDDEN, WIDTH)
        add(f"{layer}.ffn_down", WIDTH, HIDDEN)
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"{layer}.{name}.weight", np.ones(WIDTH, np.float32))
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    add("output", len(TOKENS), WIDTH, 8)  # words far apart


def main(path):
    writer = gguf.GGUFWriter(path, "llama")
    describe(writer)
    fill(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(sys.argv[1])
