"""What /proc tells of processes that may end at any moment: of those that have, nothing."""


def of(pid, name):
    """The bytes of /proc/PID/NAME, none when the process has ended. PermissionError is the caller's."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as f:
            return f.read()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def command_line(pid):
    return of(pid, "cmdline").split(b"\0")


def children(pid):
    return [int(word) for word in of(pid, f"task/{pid}/children").split()]
