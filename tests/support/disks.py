"""Small file systems of one's own, for tests that fill, break or cut them. They need root and the right to mount."""
import os
import subprocess
import tempfile
import time


def run(*words, check=True):
    return subprocess.run(words, check=check, capture_output=True, text=True)


def may_mount():
    """Whether a file system can be mounted here; cheap, and leaves nothing behind."""
    if os.geteuid() != 0:
        return False
    folder = tempfile.mkdtemp(prefix="welkin-mount-")
    try:
        if run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder, check=False).returncode != 0:
            return False
        run("umount", folder)
        return True
    finally:
        os.rmdir(folder)


def may_loop():
    """Whether an image can be mounted as a disk."""
    if not may_mount():
        return False
    with tempfile.TemporaryDirectory(prefix="welkin-loop-") as folder:
        image, at = folder + "/image", folder + "/at"
        os.mkdir(at)
        make_image(image, 8 << 20)
        if run("mount", "-o", "loop", image, at, check=False).returncode != 0:
            return False
        run("umount", at)
        return True


def make_image(path, size):
    with open(path, "wb") as f:
        f.truncate(size)
    run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", path)


class Mount:
    """A mounted file system, unmounted at the end."""

    def __init__(self, at, source, *options):
        self.at = at
        os.makedirs(at, exist_ok=True)
        kind = ["-t", "tmpfs"] if source == "tmpfs" else []
        run("mount", *kind, "-o", ",".join(options) or "defaults", source, at)
        os.chmod(at, 0o755)

    def umount(self):
        """Waits for those who are just going."""
        for _ in range(200):
            done = run("umount", self.at, check=False)
            if done.returncode == 0 or "not mounted" in done.stderr:
                return
            time.sleep(0.05)
        run("umount", "-l", self.at, check=False)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.umount()
