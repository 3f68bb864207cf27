"""Pages of somebody else are not replaced."""

import pytest

from topicfocus.reproduce.run import check_ours


def test_only_pages_of_ours_are_replaced(tmp_path):
    check_ours(tmp_path / "new")
    check_ours(tmp_path)
    (tmp_path / "tables").mkdir()
    with pytest.raises(FileExistsError, match="none of ours"):
        check_ours(tmp_path)
    (tmp_path / "runs").mkdir()  # an interrupted call
    check_ours(tmp_path)
    (tmp_path / "RESULTS.md").write_text("# The paper, reproduced\n")
    check_ours(tmp_path)
    (tmp_path / "RESULTS.md").write_text("# My thesis\n")
    with pytest.raises(FileExistsError, match="none of ours"):
        check_ours(tmp_path)
