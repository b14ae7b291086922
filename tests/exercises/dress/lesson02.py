"""Answers to lesson 02, written as a learner writes them (see test_dress.py)."""

RIGHT = {
    "02-numpy-bytes": ["lambda n,s: tuple(len(w)*n*s for w in ('rwrrw','rrw'))"],
    "02-claim-warm": [
        "lambda n,s,t,w,c: (3*n*s/t, 3*n*s/t/w, next((k for k in c if c[k]>=2*n*s), 'dram'))",
    ],
    "02-claim-bias": ["lambda m,n,s: (m*n, s*(m*n) + s*n + s*(m*n), 0.5/s)"],
    "02-lines": [
        "lambda a,n,d,s,l: int(np.count_nonzero(np.diff((a+np.arange(n)*d*s)//l)) + 1)*l",
        """def answer(a, n, d, s, l):
    seen = set()
    for i in range(n):
        for byte in range(s): seen.add((a + i*d*s + byte)//l)
    return l*len(seen)""",
    ],
    "02-pooling": [
        """def answer(h,w,c,k,d):
    return (lambda o: (o*(k**2-1), (h*w*c+o)*4))(len(range(0,h-k+1,d))*len(range(0,w-k+1,d))*c)""",
    ],
    "02-balance": ["lambda f,b,p,w: (1/(f/b), 1/(p/w), 'memory' if f/b < p/w else 'compute')"],
}  # fmt: skip

WRONG = {
    "02-numpy-bytes": {
        "a constant factor": "lambda n,s: (5*n*s, 4*n*s)",
        "another order": "lambda n,s: (3*n*s, 5*n*s)",
        "itemsize": "lambda n,s: (5*n*s, 3*n)",
    },
    "02-claim-warm": {
        "a cache that is not there": """def answer(n,s,t,w,c):
    level = next((k for k in ('l1', 'l2', 'l3') if 2*n*s <= c[k]), 'dram')
    return 3*n*s/t, 3*n*s/t/w, level""",
        "a constant factor": """def answer(n,s,t,w,c):
    return (2*3*n*s/t, (2*3*n*s/t)/w, next((k for k,v in c.items() if 2*n*s<=v), 'dram'))""",
        "itemsize": """def answer(n,s,t,w,c):
    return (3*n/t, (3*n/t)/w, next((k for k,v in c.items() if 2*n*s<=v), 'dram'))""",
        "another unit": """def answer(n,s,t,w,c):
    return (3*n*s/t/2**30, 3*n*s/t/w, next((k for k,v in c.items() if 2*n*s<=v), 'dram'))""",
    },
    "02-golf-axpy": {
        "two loops over the pieces": """def answer(a, x, y):
    for i in range(0, len(x), 4096):
        x[i : i + 4096] *= a
    for i in range(0, len(x), 4096):
        y[i : i + 4096] += x[i : i + 4096]
    return y""",
    },
    "02-golf-squares": {
        "single precision": "lambda x: np.float32(x @ x)",
        "overlapping pieces": """def answer(x):
    return sum(x[i : i + 4097] @ x[i : i + 4097] for i in range(0, len(x), 4096))""",
        "only one piece": """def answer(x):
    for i in range(0, len(x), 4096):
        return x[i : i + 4096] @ x[i : i + 4096]""",
    },
    "02-golf-row-norm": {
        "columns for rows": """def answer(x):
    for i in range(0, len(x), 64):
        p = x[i : i + 64]
        p /= np.linalg.norm(p, axis=0)
    return x""",
        "lengths in a row": """def answer(x):
    for i in range(0, len(x), 64):
        p = x[i : i + 64]
        p /= np.sqrt(np.einsum('ij,ij->i', p, p))
    return x""",
        "whole numbers": """def answer(x):
    for i in range(0, len(x), 64):
        p = x[i : i + 64]
        p //= np.linalg.norm(p, axis=1)[:, None]
    return x""",
    },
    "02-claim-bias": {
        "digits in a text": "lambda m,n,s: np.array([str(m*n), (2*m*n+n)*s, 1/(2*s)])",
        "a constant factor": "lambda m,n,s: (m*n, (2*m*n+n)*s, 1/s)",
        "another order": "lambda m,n,s: ((2*m+1)*n*s, m*n, 1/(2*s))",
    },
    "02-golf-bias-relu": {
        "a new array under an old name": """def answer(x,b):
    for i in range(0,len(x),32):
        p = x[i:i+32]
        p = np.maximum(p+b, 0)
    return x""",
        "the negative stays": """def answer(x,b):
    for i in range(0,len(x),32):
        p = x[i:i+32]
        p += b
        np.maximum(p, 0)
    return x""",
        "a call outside the loop": """def answer(x, b):
    return ([x.__iadd__(b)] + [np.maximum(x[i : i + 8], 0, out=x[i : i + 8]) for i in range(0,
        len(x), 8)] and x)""",
        "b in another shape": """def answer(x, b):
    for i in range(0, len(x), 32):
        x[i : i + 32] = np.maximum(x[i : i + 32] + b[i : i + 32], 0)
    return x""",
        "max for np.maximum": """def answer(x, b):
    for i in range(0, len(x), 32):
        x[i : i + 32] = max(x[i : i + 32] + b, 0)
    return x""",
    },
    "02-pooling": {
        "one window fewer": "lambda h,w,c,k,d: (((h-k)//d)*((w-k)//d)*c*(k*k-1), 4*h*w*c)",
        "a constant factor": """def answer(h,w,c,k,d):
    return (lambda o: ((k*k-1)*o, 8*(h*w*c+o)))(c*((h-k)//d+1)*((w-k)//d+1))""",
        "another order": """def answer(h,w,c,k,d):
    return (lambda o: (4*c*(h*w+o), (k*k-1)*c*o))(((h-k)//d+1)*((w-k)//d+1))""",
    },
    "02-balance": {
        "another order": "lambda f,b,p,w: ('memory' if b/f>w/p else 'compute', b/f, w/p)",
        "digits in a text": "lambda f,b,p,w: (str(b/f), w/p, 'memory' if b/f>w/p else 'compute')",
        "upside down": "lambda f,b,p,w: (f/b, w/p, 'memory' if b/f > w/p else 'compute')",
        "FLOP/byte": "lambda f,b,p,w: (f/b, p/w, 'memory' if f/b > p/w else 'compute')",
        "a constant factor": "lambda f,b,p,w: (b/f*4, w/p, 'memory' if b/f*4 > w/p else 'compute')",
        "the ridge for the machine": """def answer(f,b,p,w):
    return (b/f, p/w, 'memory' if b/f>p/w else 'compute')""",
        "program and machine swapped": """def answer(f,b,p,w):
    return (w/p, b/f, 'memory' if w/p>b/f else 'compute')""",
    },
}  # fmt: skip

TOLD = {
    "02-numpy-bytes": {
        "write def, not async def": """async def answer(n, s):
    return 5 * n * s, 3 * n * s""",
        "2 keys are wanted: NumPy bytes, AXPY bytes": "lambda n, s: {'numpy': 5 * n * s}",
    },
    "02-golf-axpy": {
        "it may move few bytes, but golf cannot count them": """def answer(a, x, y):
    import scipy.linalg.blas
    return scipy.linalg.blas.daxpy(x, y, a=a)""",
        "write `def`, not `async def`": """async def answer(a, x, y):
    return a * x + y""",
        "it returned None for every case; does it reach a return?": """def answer(a, x, y):
    y += a * x""",
        "parts differ in length": """def answer(a, x, y):
    return [a * x[i : i + 4096] + y[i : i + 4096] for i in range(0, len(x), 4096)]""",
    },
    "02-golf-squares": {
        "np.sort: golf has no count for it": "lambda x: np.sum(np.sort(x) ** 2)",
        "give golf larger chunks": "lambda x: sum(x * x)",
        "a dict came back; an array of numbers is wanted, or one number": """def answer(x):
    return {'sum': x @ x}""",
    },
    "02-balance": {
        "one of these words is wanted: compute, memory": """def answer(f, b, p, w):
    return (b / f, w / p, 'mem' if b / f > w / p else 'comp')""",
    },
}  # fmt: skip
