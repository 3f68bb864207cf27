"""What a mistake must not wait for."""

import subprocess
import sys

from command_line import environment


def test_settings_and_names_import_nothing_heavy():
    code = (
        "import sys; from topicfocus import workflow\n"
        "from topicfocus.workflow import FitConfig, fit_file\n"
        "try: fit_file('x.csv', model='lda')\n"
        "except workflow.SettingError: pass\n"
        "heavy = {'numpy', 'numba', 'pandas', 'sklearn', 'scipy', 'rich'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
