"""Storage backend for the HiCache of SGLang: pages of KV caches in files, as frames of Taut.

::

    python -m sglang.launch_server ... --enable-hierarchical-cache --hicache-storage-backend dynamic \\
      --hicache-storage-backend-extra-config \\
      '{"backend_name": "taut", "module_path": "taut.torch.sglang", "class_name": "Storage"}'

The extra configuration may have ``"bound": "rel:1e-3"``, and what SGLang's backend ``file`` takes, such as ``"max_size": "200G"``.
"""

import logging
import os
from contextlib import suppress
from dataclasses import replace
from typing import Any, Optional

import torch
from sglang.srt.mem_cache.hicache_storage import HiCacheFile

from .. import _core
from .._errors import Error
from . import _frames

_log = logging.getLogger(__name__)
_HOST = torch.device("cpu")


class Storage(HiCacheFile):
    """SGLang's storage in files, which holds frames. Without a bound nothing is lost.

    Parameters
    ----------
    storage_config
        SGLang's configuration. ``bound`` in its ``extra_config`` is the policy of floating-point pages.
    options
        Further arguments of SGLang's factory, which it gives to every backend; none is used.
    """

    def __init__(self, storage_config: Any, options: Any = None) -> None:
        self._bound = _core.check_coding(str((storage_config.extra_config or {}).get("bound", "lossless")))
        # The name is part of each file's: pages of another bound, and plain ones, are other files.
        super().__init__(replace(storage_config, model_name=f"{storage_config.model_name or ''}.taut-{self._bound}"))

    def set(self, key: str, value: Any = None, target_location: Any = None, target_sizes: Any = None) -> bool:
        """Stores a page; one that is there stays. Returns False if it could not be stored."""
        values = _frames.movable(value.detach().contiguous().view(-1))
        try:
            frame = _frames.encode(values, _frames.coding_of(values.dtype, self._bound), _HOST)
        except Error as error:
            _log.warning("A page is not stored: %s", error)
            return False
        return bool(super().set(key, frame))

    def get(self, key: str, target_location: Any = None, target_sizes: Any = None) -> Optional[torch.Tensor]:
        """Reads a page into `target_location`, which has its type and number of values; returns None if there is none.

        A page that cannot be decoded is removed and counts as none: SGLang's threads end at an exception.
        """
        values = _frames.movable(target_location.view(-1))
        path = os.path.join(self.file_path, f"{self._get_suffixed_key(key)}.bin")
        try:
            frame = torch.empty(os.stat(path).st_size, dtype=torch.uint8, device=_HOST)
            if super().get(key, frame) is None:
                return None
            _frames.decode(frame, values)
        except FileNotFoundError:
            return None
        except OSError as error:
            _log.warning("A page was not read: %s", error)
            return None
        except Error as error:
            _log.warning("The page in %s is damaged, and removed: %s", path, error)
            with suppress(OSError):
                os.remove(path)
            return None
        return target_location
