"""GPU arrays with the interfaces of CuPy, PyTorch, JAX and Numba. Each class has only what Taut may use of its library.

The memory is that of a stand-in for the driver, STAND_IN_DRIVER; without it, that of a GPU.
"""

import ctypes
import os

import numpy as np

SIMULATED = "STAND_IN_DRIVER" in os.environ
_CODES = {"i": 0, "u": 1, "f": 2, "V": 4, "c": 5}  # DLDataTypeCode; V: bfloat16 of ml_dtypes
CUDA, MANAGED = 2, 13


class _StandIn:
    """The stand-in for the driver."""

    def __init__(self):
        self._library = ctypes.CDLL(os.environ["STAND_IN_DRIVER"])
        self._library.stand_in_allocate.restype = ctypes.c_void_p
        self._library.stand_in_launches.restype = ctypes.c_ulong

    def allocate(self, size, number):
        return self._library.stand_in_allocate(ctypes.c_size_t(size), number)

    def free(self, at):
        self._library.stand_in_free(ctypes.c_void_p(at))

    def copy(self, to, start, size):
        self._library.stand_in_copy(ctypes.c_void_p(to), ctypes.c_void_p(start), ctypes.c_size_t(size))

    def launches(self):
        return self._library.stand_in_launches()


class _Driver:
    """The driver of a GPU, through CuPy. It does not count launches."""

    def __init__(self):
        from cupy.cuda import runtime

        self._runtime = runtime
        runtime.setDevice(0)

    def allocate(self, size, number):
        return self._runtime.malloc(max(size, 1))

    def free(self, at):
        self._runtime.free(at)

    def copy(self, to, start, size):
        self._runtime.memcpy(to, start, size, 4)  # cudaMemcpyDefault

    def launches(self):
        return None


def _driver():
    """Returns the driver; None if there is neither a stand-in nor CuPy with a GPU."""
    if SIMULATED:
        return _StandIn()
    try:
        return _Driver()
    except Exception:  # of CuPy, or because it is not there
        return None


DRIVER = _driver()


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
    """Returns how often kernels were launched; None if nobody counts."""
    return DRIVER.launches()


def _copy(to, start, size):
    DRIVER.copy(to, start, size)


class Memory:
    """A copy of a NumPy array in GPU memory, with its strides."""

    def __init__(self, array, writeable=True, number=0):
        self.shape, self.strides, self.dtype, self.writeable = array.shape, array.strides, array.dtype, writeable
        self.number = number  # of the GPU
        base = array if array.base is None else array.base
        self._bytes = base.nbytes
        self._at = DRIVER.allocate(self._bytes, number)
        _copy(self._at, base.ctypes.data, self._bytes)
        self.address = self._at + array.ctypes.data - base.ctypes.data

    def __del__(self):
        DRIVER.free(self._at)

    def numpy(self):
        """Returns the current contents as a NumPy array."""
        everything = np.empty(self._bytes, np.uint8)
        _copy(everything.ctypes.data, self._at, self._bytes)
        return np.ndarray(self.shape, self.dtype, everything, self.address - self._at, self.strides)


class DLPackArray(Memory):
    """An array with DLPack alone."""

    kind = CUDA  # DLDeviceType

    def __init__(self, array, **options):
        super().__init__(array, **options)
        self.streams = []  # streams that consumers named; -1 names none

    def __dlpack_device__(self):
        return self.kind, self.number

    def __dlpack__(self, stream=None, **options):
        if not self.writeable:
            raise BufferError("read-only")
        if stream != -1:
            self.streams.append(stream)
        return capsule_of(self)


def capsule_of(array):
    """Returns the DLPack capsule of an array with address, device, shape, strides and dtype."""
    lengths = (ctypes.c_int64 * len(array.shape))(*array.shape)
    steps = (ctypes.c_int64 * len(array.shape))(*(step // array.dtype.itemsize for step in array.strides))
    code = _CODES["V" if array.dtype.name == "bfloat16" else array.dtype.kind]
    kind = (code, 8 * array.dtype.itemsize)
    place = array.__dlpack_device__()
    tensor = _Tensor(array.address, place, len(array.shape), kind, 1, lengths, steps, 0, None, None)
    array._exported = [*getattr(array, "_exported", []), (tensor, lengths, steps)]
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(ctypes.addressof(tensor), b"dltensor", None)


class TorchTensor(DLPackArray):
    """A tensor of PyTorch on a GPU."""

    def new_empty(self, shape):
        return TorchTensor(np.empty(shape, self.dtype))

    def is_contiguous(self):
        return self.numpy().flags.c_contiguous


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


class CupyArray(InterfaceArray, DLPackArray):
    """An array of CuPy, which NumPy's functions accept."""

    @property
    def flags(self):
        return self.numpy().flags

    def __array_function__(self, function, types, arguments, options):
        assert function is np.empty_like and arguments == (self,)
        return CupyArray(np.empty(options["shape"], self.dtype, options["order"]))


class JaxArray(DLPackArray):
    """An array of JAX, which never changes once it has been handed out."""

    __module__ = "jaxlib._jax"

    class Numpy:
        """The module jax.numpy."""

        @staticmethod
        def empty(shape, dtype, device):
            assert device == "cuda:0"
            return JaxArray(np.empty(shape, dtype))

    device = "cuda:0"

    def __array_namespace__(self):
        return JaxArray.Numpy


class HostTensor:
    """A tensor of PyTorch on the host: DLPack below 1.0, and no buffer protocol."""

    def __init__(self, array):
        self.values, self.shape, self.strides, self.dtype = array, array.shape, array.strides, array.dtype
        self.address = array.ctypes.data

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self):
        return capsule_of(self)

    def new_empty(self, shape):
        return HostTensor(np.empty(shape, self.dtype))

    def is_contiguous(self):
        return self.values.flags.c_contiguous
