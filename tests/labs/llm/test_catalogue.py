"""The catalogue of models: names as people write them, suggestions, sources."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.labs.llm.catalogue import document
from tests.support.rows import each_row


@each_row(
    ("llama-2-7b", "llama-2-7b"), ("llama2-7b", "llama-2-7b"), ("LLAMA_3_8B", "llama-3-8b"),
    ("meta-llama/Llama-2-7b-chat-hf", "llama-2-7b"), ("google/gemma-2-9b-it", "gemma-2-9b"),
    ("meta-llama/Meta-Llama-3-70B-Instruct", "llama-3-70b"), ("GPT-2", "gpt2"),
    ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"), (" Qwen2.5-7B ", "qwen2.5-7b"),
    ("deepseek-ai/DeepSeek-R1", "deepseek-v3"), ("Llama-3.3-70B-Instruct", "llama-3.1-70b"),
)  # fmt: skip
def test_names_as_people_write_them(written, meant):
    assert rl.model(written) is rl.models()[meant]


@each_row(
    ("llama", "is vague; it could mean llama-2-7b, llama-2-13b"),
    ("lama-2-7b", "is unknown; did you mean 'llama-2-7b'"),
    ("mixtral", "is unknown; did you mean 'mixtral-8x7b'"),
    ("gpt5", "did you mean 'gpt2'"),
    ("zzz", "Known: gpt2, "),
    ("", "model='' is unknown"),
)
def test_names_that_are_not_there_are_answered(name, said):
    with pytest.raises(ValueError, match=said):
        rl.model(name)


def test_a_model_is_returned_as_it_is():
    own = rl.Model(hidden=64, layers=1, heads=1)
    assert rl.model(own) is own
    with pytest.raises(TypeError, match="model=7 must be a model's name or a Model"):
        rl.model(7)


def test_the_catalogue_cannot_be_changed_and_has_all_families():
    known = rl.models()
    with pytest.raises(TypeError):
        known["mine"] = None
    for family in ("gpt2", "llama-2", "llama-3", "mistral", "mixtral", "qwen", "gemma", "deepseek"):
        assert any(name.startswith(family) for name in known)


def test_every_model_names_two_sources_or_more():
    keys = document()["sources"]
    for row in document()["models"]:
        assert len(row["source"]) >= 2
        assert set(row["source"]) <= set(keys)
        assert rl.model(row["name"]).source == tuple(keys[key] for key in row["source"])
    used = {key for row in document()["models"] for key in row["source"]}
    assert used == set(keys)
