"""A pipe that is full but for a few bytes: who writes more into it stands still until it is read, whatever the machine does."""

import fcntl
import os
import sys
import termios
import time


class FullPipe:
    def __init__(self, room):
        self.reader, self.writer = os.pipe()
        self.filled = fcntl.fcntl(self.writer, fcntl.F_SETPIPE_SZ, 4096) - room
        os.write(self.writer, b"\n" * self.filled)

    def wait_until_used(self, process):
        """Gives up the writing end, which is the process's now, and waits for its first bytes."""
        os.close(self.writer)
        end = time.monotonic() + 120
        while int.from_bytes(fcntl.ioctl(self.reader, termios.FIONREAD, bytes(4)), sys.byteorder) == self.filled:
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.002)
