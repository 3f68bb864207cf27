"""Files that tests of the command line share, and one fitted model."""

import pytest
from command_line import topicfocus, write_reviews


@pytest.fixture(scope="session")
def reviews(tmp_path_factory):
    """600 synthetic reviews: id, text, stars from 1 to 10."""
    return write_reviews(tmp_path_factory.mktemp("data") / "reviews.csv")


@pytest.fixture(scope="session")
def fitted(reviews, tmp_path_factory):
    """The process that fitted them, and the folder it wrote."""
    folder = tmp_path_factory.mktemp("fitted") / "out"
    done = topicfocus("fit", reviews, "--text", "text", "--target", "stars", "--out", folder)
    assert done.returncode == 0, done.stderr
    return done, folder
