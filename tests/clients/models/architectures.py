# SPDX-License-Identifier: Apache-2.0
"""Tiny models of transformers' architectures with random weights, and what they are called with."""

import torch
import transformers

ROWS, WIDTH, HEADS, WORDS = 24, 64, 4, 99
# aclnnGelu is the approximation by tanh; gelu_new is that too, in elementwise operators.
ACTIVATION = "gelu_new"
DECODER = {
    "vocab_size": WORDS, "hidden_size": WIDTH, "intermediate_size": 96, "num_hidden_layers": 2,
    "num_attention_heads": HEADS, "max_position_embeddings": 64, "pad_token_id": 0,
    "bos_token_id": 1, "eos_token_id": 2, "hidden_act": ACTIVATION, "activation_function": ACTIVATION,
}  # fmt: skip
GROUPED = DECODER | {"num_key_value_heads": 2}
GPT2 = {"vocab_size": WORDS, "n_embd": WIDTH, "n_layer": 2, "n_head": HEADS, "n_positions": 64,
        "bos_token_id": 1, "eos_token_id": 2}  # fmt: skip
IMAGE = {"hidden_size": WIDTH, "intermediate_size": 96, "num_hidden_layers": 2,
         "num_attention_heads": HEADS, "image_size": 24, "patch_size": 6, "hidden_act": ACTIVATION}  # fmt: skip
TEXT_PART = {key: DECODER[key] for key in DECODER if "token_id" not in key} | {"eos_token_id": 2}
BART = {
    "vocab_size": WORDS, "d_model": WIDTH, "encoder_layers": 2, "decoder_layers": 2,
    "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS, "encoder_ffn_dim": 96,
    "decoder_ffn_dim": 96, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 2, "decoder_start_token_id": 1, "activation_function": ACTIVATION,
}  # fmt: skip
WAVES = {
    "hidden_size": WIDTH, "intermediate_size": 96, "num_hidden_layers": 2,
    "num_attention_heads": HEADS, "conv_dim": (16, 16), "conv_kernel": (4, 4), "conv_stride": (4, 4),
    "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 4,
    "apply_spec_augment": False, "hidden_act": ACTIVATION, "feat_extract_activation": ACTIVATION,
}  # fmt: skip


def words(rows=ROWS):
    """Sequences of two lengths; what is behind the shorter one is padding."""
    ids = torch.randint(3, WORDS, (2, rows))
    seen = torch.ones(2, rows, dtype=torch.long)
    seen[1, rows - 7 :] = 0
    return {"input_ids": ids, "attention_mask": seen}


def whole_words():
    """Without padding, whose masks are floats in some architectures: torch-npu computes these by
    matmul and softmax instead."""
    return {"input_ids": words()["input_ids"]}


def pixels():
    return {"pixel_values": torch.randn(2, 3, 24, 24)}


def words_and_pixels():
    return words(16) | pixels()


def both_words():
    return words() | {"decoder_input_ids": torch.randint(3, WORDS, (2, 9))}


def waves():
    return {"input_values": torch.randn(2, 400)}


# Class of the model, arguments of its configuration, and what draws its inputs.
ARCHITECTURES = {
    "Llama": ("LlamaForCausalLM", GROUPED, words),
    "Mistral": ("MistralForCausalLM", GROUPED | {"sliding_window": 8}, words),
    "Mixtral": ("MixtralForCausalLM", GROUPED | {"num_local_experts": 4}, words),
    "Qwen2": ("Qwen2ForCausalLM", GROUPED, words),
    "Qwen3": ("Qwen3ForCausalLM", GROUPED | {"head_dim": 16}, words),
    "Gemma": ("GemmaForCausalLM", GROUPED | {"head_dim": 16}, words),
    "Phi": ("PhiForCausalLM", DECODER, words),
    "Phi3": ("Phi3ForCausalLM", GROUPED, words),
    "GPT2": ("GPT2LMHeadModel", GPT2, words),
    "GPTNeoX": ("GPTNeoXForCausalLM", DECODER, words),
    "OPT": ("OPTForCausalLM", DECODER | {"ffn_dim": 96, "word_embed_proj_dim": WIDTH}, words),
    "StableLm": ("StableLmForCausalLM", GROUPED, whole_words),
    "Starcoder2": ("Starcoder2ForCausalLM", GROUPED, words),
    "Olmo2": ("Olmo2ForCausalLM", GROUPED, words),
    "Cohere": ("CohereForCausalLM", GROUPED, words),
    "Bert": ("BertForMaskedLM", DECODER, whole_words),
    "Roberta": ("RobertaModel", DECODER, whole_words),
    "DistilBert": ("DistilBertForMaskedLM", {"vocab_size": WORDS, "dim": WIDTH, "hidden_dim": 96,
                   "n_layers": 2, "n_heads": HEADS, "max_position_embeddings": 64, "activation": "relu"}, whole_words),
    "Bart": ("BartForConditionalGeneration", BART, both_words),
    "MBart": ("MBartForConditionalGeneration", BART, both_words),
    "Wav2Vec2": ("Wav2Vec2Model", WAVES, waves),
    "ViT": ("ViTModel", IMAGE, pixels),
    "Dinov2": ("Dinov2Model", IMAGE, pixels),
    "CLIP": ("CLIPModel", {"text_config": TEXT_PART, "vision_config": IMAGE, "projection_dim": 32},
             words_and_pixels),
    "Siglip": ("SiglipModel", {"text_config": TEXT_PART, "vision_config": IMAGE}, words_and_pixels),
}  # fmt: skip


def model_of(name):
    """A model of the CPU, without dropout, whose attention is scaled_dot_product_attention."""
    chosen, arguments, _ = ARCHITECTURES[name]
    made = getattr(transformers, chosen)
    configuration = made.config_class(**arguments)
    return made._from_config(configuration, attn_implementation="sdpa").eval()


def inputs_of(name):
    return ARCHITECTURES[name][2]()
