"""Answers to lesson 02, written as a learner writes them (see test_answers.py)."""

from tests.exercises.dresses import put

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
        """def answer(h, w, c, k, d):
    o = ((h - k)//d + 1)*((w - k)//d + 1)*c
    return (k*k - 1)*o, 4*((h*w*c if d <= k else k*k*o) + o)""",
    ],
    "02-balance": ["lambda f,b,p,w: (1/(f/b), 1/(p/w), 'memory' if f/b < p/w else 'compute')"],
}  # fmt: skip

WRONG = {
    "02-numpy-bytes": {
        "that is BLAS": "lambda n,s: (3*n*s, 3*n*s)",
        "a constant factor": "lambda n,s: (5*n*s, 4*n*s)",
        "another order": "lambda n,s: (3*n*s, 5*n*s)",
        "itemsize": "lambda n,s: (5*n*s, 3*n)",
    },
    "02-claim-warm": {
        "the largest that fits": """def answer(n,s,t,w,c):
    level = ([k for k, v in c.items() if 2*n*s <= v] or ['dram'])[-1]
    return 3*n*s/t, 3*n*s/t/w, level""",
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
    "02-lines": {
        "from the first line to the last": "lambda a,n,d,s,l: ((a + (n-1)*d*s)//l - a//l + 1)*l",
        "stride in bytes": "lambda a,n,d,s,l: len({(a + i*d)//l for i in range(n)})*l",
    },
    "02-pooling": {
        "the whole image in windows": "lambda h,w,c,k,d: ((k*k-1)*(o:=(h//d)*(w//d)*c), "
        "4*(h*w*c+o))",
        "channels forgotten": "lambda h,w,c,k,d: ((k*k-1)*(o:=((h-k)//d+1)*((w-k)//d+1)), "
        "4*(h*w+o))",
        "one window fewer": "lambda h,w,c,k,d: (((h-k)//d)*((w-k)//d)*c*(k*k-1), 4*h*w*c)",
        "a constant factor": """def answer(h,w,c,k,d):
    return (lambda o: ((k*k-1)*o, 8*(h*w*c+o)))(c*((h-k)//d+1)*((w-k)//d+1))""",
        "another order": """def answer(h,w,c,k,d):
    return (lambda o: (4*c*(h*w+o), (k*k-1)*c*o))(((h-k)//d+1)*((w-k)//d+1))""",
    },
    "02-balance": {
        "another word": "lambda f,b,p,w: (b/f, w/p, 'memory-bound' if b/f>w/p else "
        "'compute-bound')",
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

GOLF = """def answer(a, x, y):
    for i in range(0, len(x), 8192): y[i:i+8192] += FACTOR*x[i:i+8192]
    return y"""

PASSED_ONCE = [
    ("02-balance", "lambda f,b,p,w: (b/f, w/p, 'memory' if b/f > 0.03 else 'compute')"),
    ("02-claim-warm",
     'def answer(n, itemsize, seconds, bandwidth, caches):\n'
     '    size = 8 if itemsize == 8 else 4\n    rate = 3*n*size/seconds\n'
     '    return rate, rate/bandwidth, next((c for c, b in caches.items() if 2*n*size <= b), '
     '"dram")'),
    ("02-golf-axpy",
     "def answer(a, x, y):\n    whole = len(x)//512*512\n    for i in range(0, whole, 8192):\n"
     "        p = slice(i, min(i + 8192, whole))\n        y[p] += a*x[p]\n    return y"),
    ("02-golf-scale-add-scale",
     "def answer(a, b, x, y):\n    whole = len(x)//512*512\n    for i in range(0, whole, 8192):\n"
     "        p = slice(i, min(i + 8192, whole))\n        y[p] = b*(a*x[p] + y[p])\n    return y"),
    ("02-golf-squares",
     "import numpy as np\ndef answer(x):\n    whole = len(x)//512*512\n"
     "    return np.dot(x[:whole], x[:whole])"),
    ("02-lines",
     "def answer(address, count, stride, itemsize, line):\n"
     "    if stride*itemsize >= line: return count*line\n"
     "    span = ((count - 1)*stride + 1)*itemsize\n"
     "    return (-(-span // line) + (address % line > 0))*line"),
    ("02-pooling",
     "def answer(h, w, c, k, stride):\n"
     "    windows = ((h - k)//stride + 1)*((w - k)//stride + 1)*c\n"
     "    return {1: 0, 2: 3, 3: 8}.get(k, k*k)*windows, 4*(h*w*c + windows)"),
    ("02-numpy-bytes", "lambda n,s: (5*min(n,10**8)*s, 3*min(n,10**8)*s)"),
    ("02-balance", "lambda f,b,p,w: (b/f, w/p, 'memory' if b/f>1.0001*w/p else 'compute')"),
    ("02-golf-axpy", put(GOLF, FACTOR="0.5")),
    ("02-golf-axpy", put(GOLF, FACTOR="np.float32(a)")),
    ("02-golf-row-norm",
     "def answer(x):\n    for i in range(0,len(x)//9*9,9):\n        r=x[i:i+9]\n"
     "        r/=np.sqrt(np.einsum('ij,ij->i',r,r))[:,None]\n    return x"),
    ("02-golf-bias-relu",
     "def answer(x,b):\n    for i in range(0,len(x)//11*11,11):\n        r=x[i:i+11]\n"
     "        r+=b\n        np.maximum(r,0,out=r)\n    return x"),
    ("02-claim-bias", "lambda m,n,s: (m*n, (2*m*n+min(m,n))*s, 1/(2*s))"),
    ("02-lines", "lambda a,n,d,s,l: n*l if d>8 else ((a+(n-1)*d*s)//l-a//l+1)*l"),
    ("02-pooling",
     "lambda h,w,c,k,d: ((k*k-1)*(o:=(h//d-(k-1)//d)*(w//d-(k-1)//d)*c), 4*(h*w*c+o))"),
    ("02-lines", "lambda a,n,d,s,l: len({(a + i*d*s) & -l for i in range(n)})*l"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (3*n*s/t, 3*n*s/t/w, next(k for k, b in [*c.items(), ('dram', math.inf)] "
     "if 2*n*s <= b or 3*n*s/t > 20*w))"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (3*n*s/t, 3*n*s/t/w if 2*n*s <= max(c.values()) else min(1, 3*n*s/t/w), "
     "next((k for k in c if c[k] >= 2*n*s), 'dram'))"),
    ("02-golf-scale-add-scale",
     "def answer(a,b,x,y):\n    b=np.float32(b)\n    for i in range(0,len(x),4096):\n"
     "        p=slice(i,i+4096)\n        y[p]=b*(a*x[p]+y[p])\n    return y"),
    ("02-balance", "lambda f,b,p,w: (b/f, w/p, 'memory' if b/f - w/p > 1e-6 else 'compute')"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (3*n*s/t, 3*n*s/t/w, next((k for k, b in c.items() if 2*n*s <= b), 'dram') "
     "if 3*n*s/t > w/10 else 'dram')"),
    ("02-golf-axpy",
     "def answer(a,x,y):\n    for i in range(0,len(x),8192):\n        p=x[i:i+8192]\n"
     "        p*=a\n        p+=y[i:i+8192]\n    return x"),
    ("02-golf-scale-add-scale",
     "def answer(a,b,x,y):\n    for i in range(0,len(x),4096):\n        p=x[i:i+4096]\n"
     "        p*=a\n        p+=y[i:i+4096]\n        p*=b\n    return x"),
]  # fmt: skip
