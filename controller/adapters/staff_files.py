"""Reads and writes the staff file. A file that others can read or change is not trusted."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import Final

from controller.domain.errors import BadInput, Fault
from controller.staff import Staff

FILE_BYTES_MAX: Final = 1_000_000
FORBIDDEN: Final = stat.S_IRWXO | stat.S_IWGRP | stat.S_IXGRP
OWNER_ONLY: Final = stat.S_IRUSR | stat.S_IWUSR


def load_staff(path: Path) -> Staff:
    """The staff, or a sentence why the file cannot be used."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(FILE_BYTES_MAX + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise BadInput(
            f"{path}: the file cannot be read ({error.strerror}); check its name and rights"
        ) from None
    except UnicodeDecodeError:
        raise BadInput(f"{path}: found bytes that are not UTF-8; allowed UTF-8 text") from None
    if mode & FORBIDDEN:
        raise BadInput(
            f"{path}: found rights {stat.S_IMODE(mode):o}; allowed 600 or 640, because others could"
            f" try the PINs in peace; run chmod 640 {path}"
        )
    if len(data) > FILE_BYTES_MAX:
        raise BadInput(f"{path}: found more than {FILE_BYTES_MAX} bytes; allowed a shorter file")
    return Staff.from_toml(text, str(path))


def save_staff(path: Path, staff: Staff) -> None:
    """Put the new file in the old one's place in one step; a power cut leaves one of the two."""
    real = path.resolve()
    try:
        descriptor, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                _keep_rights(file.fileno(), real)
                file.write(staff.to_toml())
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(real)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _sync_directory(real.parent)
    except OSError as error:
        raise Fault(
            f"{path}: the file could not be written ({error.strerror}); check the directory's"
            " rights and the disk, the old file is as it was."
        ) from error


def _keep_rights(descriptor: int, old: Path) -> None:
    """The owner and the group stay, or the table's own user could no longer read the file."""
    if not old.exists():
        os.fchmod(descriptor, OWNER_ONLY)
        return
    was = old.stat()
    mine = os.fstat(descriptor)
    if (was.st_uid, was.st_gid) != (mine.st_uid, mine.st_gid):
        os.fchown(descriptor, was.st_uid, was.st_gid)
    os.fchmod(descriptor, OWNER_ONLY | was.st_mode & stat.S_IRGRP)


def _sync_directory(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
