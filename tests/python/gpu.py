"""GPU arrays with the interfaces of CuPy and PyTorch, on memory that a stand-in for the driver reports as GPU
memory."""

import ctypes
import os

import numpy as np

DRIVER = ctypes.CDLL(os.environ["TAUT_STAND_IN_DRIVER"])
DRIVER.stand_in_allocate.restype = ctypes.c_void_p
DRIVER.stand_in_launches.restype = ctypes.c_ulong
_CODES = {"i": 0, "u": 1, "f": 2, "V": 4, "c": 5}  # DLDataTypeCode; V: bfloat16 of ml_dtypes
CUDA, MANAGED = 2, 13


class _Tensor(ctypes.Structure):
    """The DLManagedTensor of dlpack.h."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("type", ctypes.c_uint8 * 2),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


def launches():
    return DRIVER.stand_in_launches()


def _copy(to, start, size):
    DRIVER.stand_in_copy(ctypes.c_void_p(to), ctypes.c_void_p(start), ctypes.c_size_t(size))


class Memory:
    """A copy of a NumPy array in GPU memory, with its strides."""

    def __init__(self, array, writeable=True):
        self.shape, self.strides, self.dtype, self.writeable = array.shape, array.strides, array.dtype, writeable
        base = array if array.base is None else array.base
        self._bytes = base.nbytes
        self._at = DRIVER.stand_in_allocate(ctypes.c_size_t(self._bytes), 0)
        _copy(self._at, base.ctypes.data, self._bytes)
        self.address = self._at + array.ctypes.data - base.ctypes.data

    def __del__(self):
        DRIVER.stand_in_free(ctypes.c_void_p(self._at))

    def numpy(self):
        """Returns the current contents as a NumPy array."""
        everything = np.empty(self._bytes, np.uint8)
        _copy(everything.ctypes.data, self._at, self._bytes)
        return np.ndarray(self.shape, self.dtype, everything, self.address - self._at, self.strides)


class DLPackArray(Memory):
    """An array like CuPy's, or a tensor of PyTorch: DLPack alone."""

    device = CUDA

    def __init__(self, array, **options):
        super().__init__(array, **options)
        self.streams = []  # streams that consumers named

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, stream=None, **options):
        if not self.writeable:
            raise BufferError("read-only")
        self.streams.append(stream)
        lengths = (ctypes.c_int64 * len(self.shape))(*self.shape)
        steps = (ctypes.c_int64 * len(self.shape))(*(step // self.dtype.itemsize for step in self.strides))
        kind = (_CODES[self.dtype.kind], 8 * self.dtype.itemsize)
        tensor = _Tensor(self.address, (self.device, 0), len(self.shape), kind, 1, lengths, steps, 0, None, None)
        self._exported = tensor, lengths, steps
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(tensor), b"dltensor", None)


class InterfaceArray(Memory):
    """An array like Numba's: ``__cuda_array_interface__`` alone."""

    stream = None

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, not self.writeable),
            "strides": self.strides,
            "stream": self.stream,
            "version": 3,
        }
