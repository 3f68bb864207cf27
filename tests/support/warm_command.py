"""What the server of forked processes does before the first: import and run the command once."""

import os
import tempfile
from contextlib import redirect_stderr, redirect_stdout

from command_line import write_reviews

from topicfocus.cli.main import main

with (
    tempfile.TemporaryDirectory() as _folder,
    open(os.devnull, "w", encoding="utf-8") as _nowhere,
    redirect_stdout(_nowhere),
    redirect_stderr(_nowhere),
):
    _data = write_reviews(os.path.join(_folder, "reviews.csv"), 100)
    _columns = ["--text", "text", "--target", "stars"]
    # One thread: a pool of them would not be there in a forked process.
    _more = ["--topics", "2", "--jobs", "1", "--out", os.path.join(_folder, "o")]
    main(["fit", str(_data), *_columns, *_more])
    main(["predict", os.path.join(_folder, "o"), str(_data)])
    main(["explain", os.path.join(_folder, "o"), "--text", "superb film"])
