import numpy as _np

from cupy import _un


def axpy(a, x, y):
    if x.dtype.char not in "fdFD":
        raise TypeError("invalid dtype")
    Y = _un(y)
    Y += Y.dtype.type(a) * _un(x)


def scal(a, x):
    X = _un(x)
    X *= X.dtype.type(a)


def dot(x, y, out=None):
    _un(out)[...] = _np.dot(_un(x), _un(y))
    return out


def ger(alpha, x, y, a):
    A = _un(a)
    A += alpha * _np.outer(_un(x), _un(y))


def gemv(t, alpha, a, x, beta, y):
    A = _un(a) if t == "N" else _un(a).T
    Y = _un(y)
    Y[...] = alpha * (A @ _un(x)) + (beta * Y if beta else 0)


def gemm(ta, tb, a, b, out=None, alpha=1.0, beta=0.0):
    A = _un(a) if ta == "N" else _un(a).T
    B = _un(b) if tb == "N" else _un(b).T
    C = _un(out)
    C[...] = alpha * (A @ B) + (beta * C if beta else 0)
    return out
