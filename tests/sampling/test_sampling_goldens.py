"""The goldens that the unit tests of the sampler and of the evaluation read are what numpy makes of the definitions."""

import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import make_sampling_goldens as made  # noqa: E402


def test_goldens_are_what_numpy_makes():
    kept, now = json.loads(made.OUT.read_text()), json.loads(json.dumps(made.goldens()))
    assert len(kept["sampling"]) == len(now["sampling"])
    for a, b in zip(kept["sampling"], now["sampling"]):
        assert (a["ids"], a["draws"]) == (b["ids"], b["draws"])
        assert a["probabilities"] == pytest.approx(b["probabilities"], rel=1e-13)
    assert kept["rows"] == now["rows"] and kept["scores"] == now["scores"]
