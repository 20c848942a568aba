"""Sets the clock of a process ten minutes ahead: Python imports this when it starts."""

import time

_real_time = time.time
time.time = lambda: _real_time() + 600.0
