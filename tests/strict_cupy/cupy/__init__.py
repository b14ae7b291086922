"""A strict fake of CuPy on NumPy, to see what the course does on a machine whose GPU works.

Arrays refuse to mix with NumPy arrays and refuse implicit conversion, as CuPy's do; reductions
return 0-d arrays; `cupy.cublas` is a module that `import cupy` does not load; constants that CuPy
14.2 lacks are lacking. Events are stamped with the host's clock.
"""

import time
import types

import numpy as _np

__version__ = "14.2.0"
float16, float32, float64 = _np.float16, _np.float32, _np.float64
int8, int16, int32, int64, uint8, uint32, uint64, bool_ = (
    _np.int8,
    _np.int16,
    _np.int32,
    _np.int64,
    _np.uint8,
    _np.uint32,
    _np.uint64,
    _np.bool_,
)
inf, nan, pi, newaxis, dtype = _np.inf, _np.nan, _np.pi, None, _np.dtype


def _un(x):
    if isinstance(x, ndarray):
        return x.view(_np.ndarray)
    if isinstance(x, _np.ndarray):
        raise TypeError(f"Unsupported type {type(x)}")
    if isinstance(x, (list, tuple)):
        return type(x)(_un(i) for i in x)
    return x


def _wrap(x):
    if isinstance(x, tuple):
        return tuple(_wrap(i) for i in x)
    if isinstance(x, (_np.ndarray, _np.generic)):
        return _np.asarray(x).view(ndarray)
    return x


class ndarray(_np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kw):
        for i in (*inputs, *(out or ())):
            if isinstance(i, _np.ndarray) and not isinstance(i, ndarray):
                raise TypeError(f"Unsupported type {type(i)}")
        ins = [_un(i) for i in inputs]
        if out is not None:
            kw["out"] = tuple(_un(o) for o in out)
        r = getattr(ufunc, method)(*ins, **kw)
        if out is not None:
            return out[0]
        return _wrap(r)

    def __array_function__(self, func, types, args, kwargs):
        args = [_un(a) for a in args]
        kwargs = {k: _un(v) for k, v in kwargs.items()}
        return _wrap(func(*args, **kwargs))

    def __array_finalize__(self, p):
        pass

    def _red(name):
        def f(self, *a, out=None, **k):
            r = getattr(_np.ndarray, name)(
                self.view(_np.ndarray), *a, out=None if out is None else _un(out), **k
            )
            return out if out is not None else _wrap(r)

        return f

    for _n in ("sum", "max", "min", "mean", "argmax", "argmin", "all", "any", "prod"):
        locals()[_n] = _red(_n)

    def __getitem__(self, i):
        if isinstance(i, _np.ndarray) and not isinstance(i, ndarray):
            pass
        return _wrap(
            self.view(_np.ndarray)[
                _un(i)
                if isinstance(i, ndarray)
                else tuple(_un(j) if isinstance(j, ndarray) else j for j in i)
                if isinstance(i, tuple)
                else i
            ]
        )

    def __setitem__(self, i, v):
        self.view(_np.ndarray)[_un(i) if isinstance(i, ndarray) else i] = _un(v)

    def get(self):
        return _np.array(self.view(_np.ndarray))

    def __iter__(self):
        return (self[i] for i in range(len(self)))


def asnumpy(a, *_, **__):
    return a.get() if isinstance(a, ndarray) else _np.asarray(a)


def asarray(a, dtype=None, **k):
    if isinstance(a, ndarray) and dtype in (None, a.dtype):
        return a
    return _np.array(a.view(_np.ndarray) if isinstance(a, ndarray) else a, dtype=dtype).view(
        ndarray
    )


array = asarray


def _creator(name):
    f = getattr(_np, name)
    return lambda *a, **k: _wrap(f(*[_un(x) for x in a], **k))


for _n in (
    "empty",
    "zeros",
    "ones",
    "full",
    "arange",
    "linspace",
    "empty_like",
    "zeros_like",
    "ones_like",
):
    globals()[_n] = _creator(_n)


def __getattr__(name):
    if name.startswith("__") or name in ("cublas", "gpu", "is_stand_in", "random"):
        if name == "random":
            return _random
        raise AttributeError(f"module 'cupy' has no attribute {name!r}")
    f = getattr(_np, name)
    if callable(f):

        def g(*a, **k):
            o = k.get("out")
            r = f(*[_un(x) for x in a], **{kk: _un(v) for kk, v in k.items()})
            return o if o is not None else _wrap(r)

        return g
    return f


def matmul(a, b, out=None):
    half = a.dtype.itemsize == 2
    if half and max(a.ndim, b.ndim) > 2:
        raise TypeError("batched half")
    A, B = _un(a), _un(b)
    r = _np.matmul(A.astype("f"), B.astype("f")).astype(a.dtype) if half else _np.matmul(A, B)
    if out is None:
        return _wrap(r)
    _un(out)[...] = r
    return out


ndarray.__matmul__ = lambda s, o: matmul(s, o)


def copyto(d, s):
    _un(d)[...] = _un(s)


def ElementwiseKernel(i, o, body, name="k", **kw):
    fs = {
        "rooflab_half_axpy": lambda x, a, y: x.astype("f") * a + y.astype("f"),
        "rooflab_half_scale": lambda a, x: x.astype("f") * a,
        "rooflab_half_ger": lambda x, y, a: x.astype("f") * y.astype("f") + a.astype("f"),
    }

    def k(*args):
        a = [_un(x) for x in args]
        a[-1][...] = fs[name](*a).astype(a[-1].dtype)

    return k


def ReductionKernel(*t, **kw):
    def k(x, y, out):
        _un(out)[...] = (_un(x).astype("f") * _un(y).astype("f")).sum()

    return k


def RawKernel(code, name, options=(), **k):
    def call(grid, block, args):
        time.sleep(0.05)

    return call


class _Rng:
    def __init__(s, seed):
        s.r = _np.random.default_rng(seed)

    def random(s, size=None, dtype=_np.float64):
        return _wrap(s.r.random(size, dtype=dtype))


_random = types.SimpleNamespace(default_rng=_Rng)


class Event:
    def __init__(self, block=False, disable_timing=False, interprocess=False):
        self.t = None

    def record(self, stream=None):
        self.t = time.perf_counter()

    def synchronize(self):
        pass

    done = True


class _Stream:
    ptr = 0

    def __init__(self, null=False, non_blocking=False, ptds=False):
        pass

    def synchronize(self):
        pass

    def record(self, e=None):
        e = e or Event()
        e.record()
        return e

    def __enter__(self):
        return self

    def __exit__(self, *a):
        pass


_Stream.null = _Stream()


class CUDARuntimeError(RuntimeError):
    pass


class Device:
    id = 0
    compute_capability = "90"
    pci_bus_id = "0000:00:04.0"
    cublas_handle = 7
    attributes = {"L2CacheSize": 4 << 20, "MultiProcessorCount": 4}
    mem_info = (1 << 30, 2 << 30)

    def __init__(self, d=0):
        pass

    def synchronize(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *a):
        pass


runtime = types.SimpleNamespace(
    getDeviceCount=lambda: 1,
    getDevice=lambda: 0,
    deviceSynchronize=lambda: None,
    getDeviceProperties=lambda i: {"name": b"NVIDIA Fake H100"},
    driverGetVersion=lambda: 13000,
    runtimeGetVersion=lambda: 13020,
    CUDARuntimeError=CUDARuntimeError,
)
cuda = types.SimpleNamespace(
    Event=Event,
    Stream=_Stream,
    Device=Device,
    runtime=runtime,
    get_current_stream=lambda *a: _Stream.null,
    get_elapsed_time=lambda a, b: (b.t - a.t) * 1e3,
    is_available=lambda: True,
    cublas=types.SimpleNamespace(
        CUBLAS_DEFAULT_MATH=0, CUBLAS_TENSOR_OP_MATH=1, setMathMode=lambda h, m: None
    ),
)


def get_default_memory_pool():
    return types.SimpleNamespace(free_bytes=lambda: 0, free_all_blocks=lambda: None)
