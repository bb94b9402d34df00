import pytest
import toy

import headrace


@pytest.fixture
def folder(tmp_path):
    """A fresh toy export that a test may damage."""
    toy.write_export(tmp_path / "toy")
    return tmp_path / "toy"


@pytest.fixture(scope="session")
def export(tmp_path_factory):
    path = tmp_path_factory.mktemp("exports") / "toy"
    toy.write_export(path)
    return headrace.load(path)
