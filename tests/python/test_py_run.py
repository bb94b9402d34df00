"""The toy export on both engines: values, padding, checks of arguments, messages."""

import dataclasses
import json
import subprocess
import sys

import jax
import numpy as np
import pytest
import toy

import headrace
from headrace.dims import Dim
from headrace.xla import BF16_CPU_OPTIONS, compile_lowered, compiler_options

TOKENS = [3, 1, 10, 0, 5]


@pytest.fixture(scope="module", params=["jax", "iree"])
def score(request, export, tmp_path_factory):
    if request.param == "jax":
        return export.to_jax("score")
    return export.to_iree("score", cache=tmp_path_factory.mktemp("cache"))


@pytest.mark.parametrize("length", [1, 3, 4, 5, 8])
def test_any_length(score, length):
    tokens = (TOKENS * 2)[:length]
    logits = np.asarray(score(tokens))
    assert logits.shape == (1, length, toy.V)
    assert np.abs(logits - toy.expected(tokens)).max() < 1e-5


def test_forms_of_tokens(score):
    wanted = np.asarray(score(TOKENS))
    for tokens in (np.array(TOKENS), np.array([TOKENS], dtype=np.int64), np.array(TOKENS, dtype=np.uint8), tuple(TOKENS)):
        assert np.array_equal(np.asarray(score(tokens)), wanted)


@pytest.mark.parametrize("tokens, message", [
    ([1, 11], "token 11 at position 1 is outside the vocabulary, expected 0 to 10"),
    ([-1], "token -1 at position 0"),
    ([2**40], "token 1099511627776"),
    ([], "no tokens"),
    ([0] * 9, "seq is 9, expected 1 to 8"),
    ([1.0], "float64 elements, expected i32"),
    ([[1], [2]], "tokens is [2, 1], expected [1, 1], [1, seq]"),
    ([[[1]]], "3 dimensions, expected [1, seq]"),
    (7, "0 dimensions, expected [1, seq]"),
])
def test_refuses(score, tokens, message):
    with pytest.raises(ValueError) as error:
        score(tokens)
    assert message in str(error.value)


def test_number_of_arguments(score):
    with pytest.raises(ValueError, match="0 arguments, expected 1: tokens"):
        score()


def test_compiler_options_are_for_bf16_weights_on_cpu(export):
    assert export.compiler_options("score") == {}  # f32
    parameters = [dataclasses.replace(p, dtype="bf16") for p in export.manifest.parameters]
    narrow = dataclasses.replace(export.manifest, parameters=tuple(parameters))
    program = export.function("score").targets.xla[0]
    assert compiler_options(narrow, program, "cpu") == BF16_CPU_OPTIONS
    assert compiler_options(narrow, program, "tpu") == {}
    one_position = dataclasses.replace(program, symbols={"seq": 1})
    assert compiler_options(narrow, one_position, "cpu") == {}
    # `decode` has no symbol: its tokens are one by themselves.
    score = narrow.functions[0]
    tokens = dataclasses.replace(score.arguments[0], shape=(Dim(1), Dim(1)))
    decode = dataclasses.replace(score, arguments=(tokens,), symbols=(), targets=dataclasses.replace(
        score.targets, xla=(dataclasses.replace(program, symbols={}),)))
    one_token = dataclasses.replace(narrow, functions=(decode,))
    assert compiler_options(one_token, decode.targets.xla[0], "cpu") == {}
    bystander = dataclasses.replace(program, parameters=())
    assert compiler_options(narrow, bystander, "cpu") == {}


def test_an_xla_that_does_not_know_the_options():
    lowered = jax.jit(lambda x: x + 1).lower(1.0)
    assert compile_lowered(lowered, {"xla_cpu_no_such_option": "1"})(1.0) == 2.0
    assert compile_lowered(lowered, {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_NO_SUCH"})(1.0) == 2.0

    class Fails:
        def compile(self, compiler_options=None):
            raise RuntimeError("another fault")

    with pytest.raises(RuntimeError, match="another fault"):
        compile_lowered(Fails(), BF16_CPU_OPTIONS)


def test_exported_round_trip(export):
    exported = export.exported("score")
    blob = exported.serialize()
    assert len(blob) < 4000  # no weights inside
    again = jax.export.deserialize(blob)
    padded = np.array([TOKENS + [0] * 3], np.int32)
    for e in (exported, again):
        assert [a.shape for a in e.in_avals] == [shape for _, shape, _ in export.arguments("score")]
        logits = jax.jit(lambda *a, call=e.call: call(*a) * 2)(padded, *export.weights("score"))
        assert np.abs(np.asarray(logits)[:, :5] - 2 * toy.expected(TOKENS)).max() < 1e-5


def test_exported_specialisation(export):
    assert export.exported("score", symbols={"seq": 4}).in_avals[0].shape == (1, 4)
    with pytest.raises(ValueError, match="no program for"):
        export.exported("score", symbols={"seq": 5})


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_exported_for_other_platforms(export, platform):
    assert export.exported("score", platform=platform).platforms == (platform,)


def test_weights_are_not_copied(export):
    score = export.to_jax("score")
    pointers = {w.unsafe_buffer_pointer() for _, p in score._programs for w in p._weights}
    assert pointers == {export.parameter(n).ctypes.data for n in toy.NAMES}


def test_cache_is_reused(export, tmp_path):
    export.to_iree("score", cache=tmp_path)
    files = list(tmp_path.iterdir())
    assert len(files) == 1 and files[0].suffix == ".vmfb"
    before = files[0].stat().st_mtime_ns
    score = export.to_iree("score", cache=tmp_path)
    assert list(tmp_path.iterdir()) == files and files[0].stat().st_mtime_ns == before
    assert np.abs(score(TOKENS) - toy.expected(TOKENS)).max() < 1e-5


def test_broken_programs(folder):
    for name in ("iree/model.mlir", "xla/score.8.mlir", "xla/score.4.mlir"):
        path = folder / name
        path.write_text("?" * path.stat().st_size)
    export = headrace.load(folder)
    with pytest.raises(headrace.CompileError, match="iree-compile model.mlir"):
        export.to_iree("score")
    with pytest.raises(headrace.CompileError, match="StableHLO"):
        export.exported("score")


def test_target_not_exported(folder):
    path = folder / "manifest.json"
    root = json.loads(path.read_text())
    root["functions"][0]["targets"] = {"xla": [], "iree": []}
    path.write_text(json.dumps(root))
    export = headrace.load(folder)
    for call, target in ((export.to_jax, "xla"), (export.exported, "xla"), (export.to_iree, "iree")):
        with pytest.raises(headrace.HeadraceError, match=f"--target {target}"):
            call("score")


@pytest.mark.parametrize("blocked, call, extra", [("jax", "to_jax", "jax"), ("jax", "exported", "jax"),
                                                  ("iree.compiler", "to_iree", "iree"),
                                                  ("iree.runtime", "to_iree", "iree")])
def test_missing_extra(export, blocked, call, extra):
    program = (f"import sys; sys.modules[{blocked!r}] = None; import headrace\n"
               f"try: headrace.load({str(export.directory)!r}).{call}('score')\n"
               "except headrace.MissingExtra as e: print(e)")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert f"pip install headrace[{extra}]" in done.stdout
