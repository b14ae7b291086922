"""Answers to lesson 02 in unusual dress: one line a case (see test_dress.py)."""

RIGHT = [
    ("02-numpy-bytes", "lambda n,s: np.array([5,3])*n*s"),
    ("02-claim-bias",
     "lambda m,n,s: (np.float32(m*n), np.float32((2*m+1)*n*s), np.float32(1/(2*s)))"),
    ("02-balance",
     "lambda f,b,p,w: np.array([b/f, w/p, 'memory' if b/f>w/p else 'compute'], dtype=object)"),
    ("02-lines", "lambda a,n,d,s,l: {'bytes': len({(a+i*d*s)//l for i in range(n)})*l}"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (3*n*s/t, 3*n*s/t/w, next((k for k in c if c[k]>=2*n*s), 'dram'))"),
    ("02-claim-bias", "lambda m,n,s: {'flops': m*n, 'bytes': (2*m*n+n)*s, 'limit': 1/(2*s)}"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: {'rate': 3*n*s/t, 'share': 3*n*s/t/w, 'level': "
     "next((k for k,v in c.items() if 2*n*s<=v), 'dram')}"),
    ("02-numpy-bytes", "lambda n,s: {'numpy': 5*n*s, 'blas': 3*n*s}"),
    ("02-numpy-bytes", "lambda n,s: np.array([5, 3], dtype=np.float32) * np.float32(n * s)"),
    ("02-numpy-bytes", "lambda n,s: tuple(len(w)*n*s for w in ('rwrrw','rrw'))"),
    ("02-numpy-bytes", "lambda n,s: {'NumPy': 5*n*s, 'AXPY': 3*n*s}"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: {'byte/s': 3*n*s/t, 'share': 3*n*s/t/w, 'level': "
     "next((k for k,v in c.items() if 2*n*s<=v), 'dram')}"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: [3*n*s/t, np.float32(3*n*s/t/w), "
     "next((k.upper() for k,v in c.items() if 2*n*s<=v), 'dram')]"),
    ("02-golf-axpy",
     "def answer(a, x, y):\n"
     "    out = np.empty_like(x)\n"
     "    for i in range(0, len(x), 8192):\n"
     "        out[i : i + 8192] = a * x[i : i + 8192] + y[i : i + 8192]\n"
     "    return out"),
    ("02-golf-axpy",
     "def answer(a, x, y):\n"
     "    for xs, ys in zip(np.array_split(x, 100), np.array_split(y, 100)):\n"
     "        ys += a * xs\n"
     "    return y"),
    ("02-golf-squares", "lambda x: np.dot(x, x)"),
    ("02-golf-squares", "lambda x: np.tensordot(x, x, 1)"),
    ("02-golf-squares", "lambda x: np.linalg.norm(x) ** 2"),
    ("02-golf-squares",
     "lambda x: np.sum(np.array([x[i : i + 4096] @ x[i : i + 4096] for i in range(0, len(x), "
     "4096)]))"),
    ("02-golf-row-norm",
     "def answer(x):\n"
     "    for i in range(0, len(x), 8):\n"
     "        r = x[i : i + 8]\n"
     "        r /= np.sqrt(np.einsum('ij,ij->i', r, r))[:, None]\n"
     "    return x"),
    ("02-golf-row-norm",
     "def answer(x):\n"
     "    for rows in np.array_split(x, 200):\n"
     "        rows /= np.linalg.norm(rows, axis=1, keepdims=True)\n"
     "    return x"),
    ("02-claim-bias", "lambda m,n,s: (m*n, s*(m*n) + s*n + s*(m*n), 0.5/s)"),
    ("02-claim-bias", "lambda m,n,s: (n*m, (2*m*n+n)*s, Fraction(1, 2*s))"),
    ("02-claim-bias", "lambda m,n,s: {'FLOPs': m*n, 'bytes': (2*m+1)*n*s, 'intensity': 1/(2*s)}"),
    ("02-golf-bias-relu",
     "def answer(x, b):\n"
     "    for i in range(0, len(x), 9):\n"
     "        x[i : i + 9] = (x[i : i + 9] + b).clip(0)\n"
     "    return x"),
    ("02-golf-bias-relu",
     "def answer(x, b):\n"
     "    for i in range(0, len(x), 9):\n"
     "        t = x[i : i + 9] + b\n"
     "        np.putmask(t, t < 0, 0)\n"
     "        x[i : i + 9] = t\n"
     "    return x"),
    ("02-golf-bias-relu",
     "def answer(x, b):\n"
     "    for i in range(0, len(x), 4):\n"
     "        t = x[i : i + 4] + b\n"
     "        x[i : i + 4] = np.max([t, 0 * t], axis=0)\n"
     "    return x"),
    ("02-golf-bias-relu",
     "def answer(x, b):\n"
     "    out = np.zeros(x.shape, x.dtype)\n"
     "    for i in range(0, len(x), 16):\n"
     "        out[i : i + 16] = np.where(x[i : i + 16] + b > 0, x[i : i + 16] + b, 0)\n"
     "    return out"),
    ("02-golf-scale-add-scale",
     "def answer(a, b, x, y):\n"
     "    for i in range(0, len(x), 8192):\n"
     "        r = y[i : i + 8192]\n"
     "        r += a * x[i : i + 8192]\n"
     "        r *= b\n"
     "    return y"),
    ("02-golf-scale-add-scale",
     "def answer(a, b, x, y):\n"
     "    out = np.empty(x.shape, x.dtype)\n"
     "    for i in range(0, len(x), 4096):\n"
     "        p = slice(i, i + 4096)\n"
     "        out[p] = np.add(a * b * x[p], b * y[p])\n"
     "    return out"),
    ("02-lines",
     "def answer(address, count, stride, itemsize, line):\n"
     "    a = address + np.arange(count)*stride*itemsize\n"
     "    return len(np.unique(a // line))*line"),
    ("02-lines",
     "def answer(a, n, d, s, l):\n"
     "    seen = set()\n"
     "    for i in range(n):\n"
     "        for byte in range(s): seen.add((a + i*d*s + byte)//l)\n"
     "    return l*len(seen)"),
    ("02-lines", "lambda a,n,d,s,l: int(np.count_nonzero(np.diff((a+np.arange(n)*d*s)//l)) + 1)*l"),
    ("02-pooling",
     "lambda h,w,c,k,d: (lambda o: (o*(k**2-1), "
     "(h*w*c+o)*4))(len(range(0,h-k+1,d))*len(range(0,w-k+1,d))*c)"),
    ("02-pooling",
     "lambda h,w,c,k,d: (lambda o: np.array([o*(k*k-1), "
     "4*(h*w*c+o)]))(c*((h-k)//d+1)*((w-k)//d+1))"),
    ("02-balance", "lambda f,b,p,w: (b/f, w/p, ['compute','memory'][b/f > w/p])"),
    ("02-balance", "lambda f,b,p,w: (1/(f/b), 1/(p/w), 'memory' if f/b < p/w else 'compute')"),
    ("02-balance", "lambda f,b,p,w: (b/f, w/p, 'Memory ' if b/f>w/p else 'COMPUTE')"),
    ("02-golf-axpy",
     "def answer(a, x, y, **opts):\n"
     "    for i in range(0, len(x), 4096):\n"
     "        y[i : i + 4096] += a * x[i : i + 4096]\n"
     "    return y"),
    ("02-golf-axpy",
     "def answer(a, x, y):\n"
     "    z = np.zeros(len(x), dtype=x.dtype)\n"
     "    for i in range(0, len(x), 4096):\n"
     "        z[i : i + 4096] = a * x[i : i + 4096] + y[i : i + 4096]\n"
     "    return z"),
    ("02-golf-squares", "lambda x: np.linalg.vecdot(x, x)"),
    ("02-golf-squares", "lambda x: np.array([x @ x])"),
    ("02-golf-squares", "lambda x: x.reshape(1, -1) @ x.reshape(-1, 1)"),
    ("02-golf-squares", "lambda x: np.linalg.tensordot(x, x, axes=1)"),
    ("02-golf-row-norm",
     "def answer(x):\n"
     "    for i in range(0, len(x), 16):\n"
     "        rows = x[i : i + 16]\n"
     "        rows /= np.linalg.vector_norm(rows, axis=1, keepdims=True)\n"
     "    return x"),
    ("02-golf-bias-relu",
     "def answer(x, b):\n"
     "    for j in range(512):\n"
     "        column = x[:, j]\n"
     "        column += b[j]\n"
     "        np.maximum(column, 0, out=column)\n"
     "    return x"),
]  # fmt: skip

WRONG = [
    ("02-numpy-bytes", "lambda n,s: (5*n*s, 4*n*s)", "a constant factor"),
    ("02-numpy-bytes", "lambda n,s: (5*n*s/3, 3*n*s/3)", "a constant factor"),
    ("02-golf-squares", "lambda x: np.float32(x @ x)", "single precision"),
    ("02-golf-squares",
     "def answer(x):\n"
     "    total = np.float32(x @ x)\n"
     "    return float(total)", "single precision"),
    ("02-numpy-bytes", "lambda n,s: (5*s, 3*s)", "of one number"),
    ("02-numpy-bytes", "lambda n,s: (5, 3)", "of one number"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (3*n*s/t, 3*n*s/t/w, next((k for k,v in c.items() if 2*n*s<v), 'dram'))",
     "less than the cache"),
    ("02-claim-warm",
     "def answer(n,s,t,w,c):\n"
     "    held, room, level = 2*n*s, 0, 'dram'\n"
     "    for k, v in c.items():\n"
     "        room += v\n"
     "        if held <= room:\n"
     "            level = k\n"
     "            break\n"
     "    return 3*n*s/t, 3*n*s/t/w, level", "caches added up"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (3*n*s/t, min(1, 3*n*s/t/w), next((k for k,v in c.items() if 2*n*s<=v), "
     "'dram'))", "share cut off at 1"),
    ("02-claim-warm", "lambda n,s,t,w,c: (3*n*s/t, 3*n*s/t/w, 'l1')", "always the nearest"),
    ("02-claim-warm", "lambda n,s,t,w,c: (3*n*s/t, 3*n*s/t/w, 'dram' if 3*n*s/t<=w else 'l1')",
     "fast, so it was the nearest"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (3*n*s/t, 3*n*s/t/w, 'dram' if 3*n*s/t<=w else list(c)[0])",
     "fast, so it was the nearest"),
    ("02-claim-warm",
     "def answer(n,s,t,w,c):\n"
     "    held = 2*n*s\n"
     "    level = 'l1' if held <= c['l1'] else 'l2' if held <= c['l2'] else 'l3' if held <= "
     "c['l3'] else 'dram'\n"
     "    return 3*n*s/t, 3*n*s/t/w, level", "a cache that is not there"),
    ("02-claim-bias", "lambda m,n,s: (m*n, (2*m*n+n)*s, 0)", "no limit"),
    ("02-claim-bias", "lambda m,n,s: (m*n, (2*m*n+n)*s, float('inf'))", "no limit"),
    ("02-claim-bias", "lambda m,n,s: (n, (2*m*n+n)*s, 1/(2*s))", "one row only"),
    ("02-claim-bias", "lambda m,n,s: np.array([str(m*n), (2*m*n+n)*s, 1/(2*s)])",
     "digits in a text"),
    ("02-pooling",
     "lambda h,w,c,k,d: (lambda o: ((k-1)**2*o*c, 4*c*(h*w+o)))(((h-k)//d+1)*((w-k)//d+1))",
     "a smaller window"),
    ("02-pooling",
     "lambda h,w,c,k,d: (lambda o: ((k*k-1)*h*w*c, 4*c*(h*w+o)))(((h-k)//d+1)*((w-k)//d+1))",
     "result as large as the image"),
    ("02-pooling",
     "lambda h,w,c,k,d: (lambda o: ((k*k-1)*h*w*c, 4*c*(h*w+h*w)))(((h-k)//d+1)*((w-k)//d+1))",
     "result as large as the image"),
    ("02-pooling",
     "lambda h,w,c,k,d: (lambda o: ((k*k-1)*o*c, 8*c*h*w))(((h-k)//d+1)*((w-k)//d+1))",
     "result as large as the image"),
    ("02-pooling", "lambda h,w,c,k,d: (lambda o: ((k*k-1)*o*c, 4*c*(h*w+o)))(((h-k)//d+1)**2)",
     "a square image"),
    ("02-pooling", "lambda h,w,c,k,d: (lambda o: ((k*k-1)*o*c, 4*c*(h*w+o)))(((w-k)//d+1)**2)",
     "a square image"),
    ("02-pooling", "lambda h,w,c,k,d: (lambda o: ((k*k-1)*o*c, 4*c*(h*h+o)))(((h-k)//d+1)**2)",
     "a square image"),
    ("02-pooling",
     "lambda h,w,c,k,d: (lambda o: ((k*k-1)*o*c, 4*(h*w+o)))(((h-k)//d+1)*((w-k)//d+1))",
     "channels forgotten"),
    ("02-pooling",
     "lambda h,w,c,k,d: (lambda o: ((k*k-1)*o*c, 4*c*(h*w+o)))((h-k+1)//d*((w-k+1)//d))",
     "one window fewer"),
    ("02-pooling", "lambda h,w,c,k,d: (((h-k)//d)*((w-k)//d)*c*(k*k-1), 4*h*w*c)",
     "one window fewer"),
    ("02-lines", "lambda a,n,d,s,l: (n*d*s//l + 1)*l", "everything in between"),
    ("02-lines", "lambda a,n,d,s,l: len({(a+i*(d+1)*s)//l for i in range(n)})*l",
     "stride numbers left out"),
    ("02-balance", "lambda f,b,p,w: ('memory' if b/f>w/p else 'compute', b/f, w/p)",
     "another order"),
    ("02-balance", "lambda f,b,p,w: ('memory' if b/f>w/p else 'compute', w/p, b/f)",
     "another order"),
    ("02-balance", "lambda f,b,p,w: (b/f, w/p, 'memory' if b/f>p/w else 'compute')",
     "compared with the ridge"),
    ("02-balance", "lambda f,b,p,w: (b/f, w/p, 'memory' if b/f>1 else 'compute')", "B/F above 1"),
    ("02-balance", "lambda f,b,p,w: (b/f, w/p, 'compute')", "always compute"),
    ("02-balance", "lambda f,b,p,w: np.array([b/f, w/p, 'memory' if b/f>w/p else 'compute'])",
     "digits in a text"),
    ("02-balance", "lambda f,b,p,w: (str(b/f), w/p, 'memory' if b/f>w/p else 'compute')",
     "digits in a text"),
    ("02-numpy-bytes", "lambda n,s: (3*n*s, 5*n*s)", "another order"),
    ("02-numpy-bytes", "lambda n,s: (5*n*s, 3*n)", "itemsize"),
    ("02-numpy-bytes", "lambda n,s: (5*n*s*8, 3*n*s*8)", "a constant factor"),
    ("02-numpy-bytes", "lambda n,s: (2*n*s, 3*n*s)", "a constant factor"),
    ("02-numpy-bytes", "lambda n,s: ((2+1+2*2)*n*s, 3*n*s)", "write-allocate"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (3*n*s/t, w/(3*n*s/t), next((k for k,v in c.items() if 2*n*s<=v), 'dram'))",
     "share upside down"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (2*3*n*s/t, (2*3*n*s/t)/w, next((k for k,v in c.items() if 2*n*s<=v), "
     "'dram'))", "a constant factor"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (3*n/t, (3*n/t)/w, next((k for k,v in c.items() if 2*n*s<=v), 'dram'))",
     "itemsize"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (3*n*s/t, (3*n*s/t)/w, next((k for k,v in c.items() if 2*n<=v), 'dram'))",
     "elements for bytes"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (3*n*s/t, (3*n*s/t)/w, next((k for k,v in c.items() if 3*n*s/t<=v), "
     "'dram'))", "the claim"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (3*n*s/t*1.073741824, 3*n*s/t*1.073741824/w, "
     "next((k for k,v in c.items() if 2*n*s<=v), 'dram'))", "another unit"),
    ("02-claim-warm",
     "def answer(n,s,t,w,c):\n"
     "    level='dram'\n"
     "    for k,v in c.items():\n"
     "        if 2*n*s<=v: level=k\n"
     "    return 3*n*s/t, 3*n*s/t/w, level", "the largest that fits"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (3*n*s/t/2**30, 3*n*s/t/w, next((k for k,v in c.items() if 2*n*s<=v), "
     "'dram'))", "another unit"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (3*n*s/t*1.074, 3*n*s/t/w, next((k for k,v in c.items() if 2*n*s<=v), "
     "'dram'))", "a constant factor"),
    ("02-golf-axpy", "lambda a, x, y: x + a * y", "a on y"),
    ("02-golf-axpy", "lambda a, x, y: a * (x + y)", "a on both"),
    ("02-golf-axpy", "lambda a, x, y: a * x + y", "the plain expression"),
    ("02-golf-axpy",
     "def answer(a, x, y):\n"
     "    out = np.zeros_like(x)\n"
     "    for i in range(0, len(x), 8192):\n"
     "        out[i : i + 8192] = a * x[i : i + 8192] + y[i : i + 8192]\n"
     "    return out", "filled for nothing"),
    ("02-golf-axpy",
     "lambda a, x, y: np.concatenate([a * x[i : i + 8192] + y[i : i + 8192] for i in range(0, "
     "len(x), 8192)])", "pieces joined at the end"),
    ("02-golf-axpy", "lambda a, x, y: np.sum([a * x, y], axis=0)", "the plain expression"),
    ("02-golf-squares", "lambda x: np.linalg.norm(x)", "the root taken"),
    ("02-golf-squares", "lambda x: np.sum(x) ** 2", "the square of the sum"),
    ("02-golf-squares", "lambda x: np.mean(x * x)", "the mean"),
    ("02-golf-squares", "lambda x: np.sum(x**2)", "the plain expression"),
    ("02-golf-squares", "lambda x: np.var(x) * len(x) + np.sum(x) ** 2 / len(x)",
     "several passes in one call"),
    ("02-golf-row-norm", "lambda x: np.array([row / np.sqrt(row @ row) for row in x])",
     "pieces joined at the end"),
    ("02-golf-row-norm", "lambda x: np.apply_along_axis(lambda r: r / np.sqrt(r @ r), 1, x)",
     "filled for nothing"),
    ("02-golf-row-norm", "lambda x: x / np.apply_along_axis(np.linalg.norm, 1, x)[:, None]",
     "two passes over the whole array"),
    ("02-golf-row-norm", "lambda x: x / np.linalg.norm(x)", "one length for all"),
    ("02-golf-row-norm", "lambda x: x / np.sqrt(np.mean(x * x, axis=1))[:, None]",
     "the root of the mean"),
    ("02-golf-row-norm", "lambda x: x / np.sum(x * x, axis=1, keepdims=True)", "no root"),
    ("02-claim-bias", "lambda m,n,s: (m*n, (2*m*n+n)*s, m*n/((2*m*n+n)*s))", "of this matrix"),
    ("02-claim-bias", "lambda m,n,s: (m*n, (2*m*n+m)*s, 1/(2*s))", "a column"),
    ("02-claim-bias", "lambda m,n,s: (m*n, (2*m*n+n)*s, 2*s)", "bytes per FLOP"),
    ("02-claim-bias", "lambda m,n,s: (m*n, (2*m*n+n)*s, 1/s)", "a constant factor"),
    ("02-claim-bias", "lambda m,n,s: (m*n, (2*m*n+n)*s, 1/3/s)", "a vector add"),
    ("02-claim-bias", "lambda m,n,s: (m*n, (2*m*n+m*n)*s, 1/(2*s))", "a vector add"),
    ("02-claim-bias", "lambda m,n,s: ((2*m+1)*n*s, m*n, 1/(2*s))", "another order"),
    ("02-golf-bias-relu",
     "lambda x, b: np.vstack([np.maximum(x[i : i + 16] + b, 0) for i in range(0, len(x), 16)])",
     "pieces joined at the end"),
    ("02-golf-bias-relu", "lambda x, b: np.max([x + b, 0 * x], axis=0)", "the plain expression"),
    ("02-golf-bias-relu", "lambda x, b: np.maximum(x, 0) + b", "ReLU before the bias"),
    ("02-golf-bias-relu", "lambda x, b: np.maximum(x, 0)", "b forgotten"),
    ("02-golf-bias-relu", "lambda x, b: np.minimum(x + b, 0)", "the negative half kept"),
    ("02-golf-scale-add-scale", "lambda a, b, x, y: b * a * x + y", "brackets forgotten"),
    ("02-golf-scale-add-scale", "lambda a, b, x, y: a * (b * x + y)", "a and b exchanged"),
    ("02-golf-scale-add-scale", "lambda a, b, x, y: b * (a * x + y)", "the plain expression"),
    ("02-golf-scale-add-scale",
     "lambda a, b, x, y: np.hstack([b * (a * x[i : i + 8192] + y[i : i + 8192]) for i in range(0, "
     "len(x), 8192)])", "pieces joined at the end"),
    ("02-lines", "lambda a,n,d,s,l: math.ceil(n*s/l)*l", "stride ignored"),
    ("02-lines", "lambda a,n,d,s,l: (n*s//l + 1)*l", "stride ignored"),
    ("02-lines", "lambda a,n,d,s,l: len({(a+i*d*s)//l for i in range(n)})*s", "lines, not bytes"),
    ("02-lines", "lambda a,n,d,s,l: len({(a+i*d*s)/l for i in range(n)})*l", "a line each"),
    ("02-lines", "lambda a,c,d,s,l: len({(a+i*d*s)//l for i in range(c)})*64", "64 bytes always"),
    ("02-lines", "lambda a,c,d,s,l: ((a+((c-1)*d+1)*s-1)//l - a//l + 1)*l",
     "from the first line to the last"),
    ("02-lines", "lambda a,c,d,s,l: len({(a+i*d)//l for i in range(c)})*l", "stride in bytes"),
    ("02-lines", "lambda a,c,d,s,l: math.ceil(((c-1)*d+1)*s/l)*l", "everything in between"),
    ("02-lines", "lambda a,c,d,s,l: math.ceil(c*d*s/l)*l", "everything in between"),
    ("02-pooling",
     "lambda h,w,c,k,d: (lambda o: ((k-1)*o, 4*(h*w*c+o)))(c*((h-k)//d+1)*((w-k)//d+1))",
     "one edge of the window"),
    ("02-pooling",
     "lambda h,w,c,k,d: (lambda o: ((k*k-1)*o, 4*(h*w*c+o)))(c*((h-k)//d)*((w-k)//d))",
     "one window fewer"),
    ("02-pooling",
     "lambda h,w,c,k,d: (lambda o: ((k*k-1)*o, 8*(h*w*c+o)))(c*((h-k)//d+1)*((w-k)//d+1))",
     "a constant factor"),
    ("02-pooling", "lambda h,w,c,k,d: (lambda o: (o, 4*(h*w*c+o)))(c*((h-k)//d+1)*((w-k)//d+1))",
     "one edge of the window"),
    ("02-pooling", "lambda h,w,c,k,d: (lambda o: ((k*k-1)*o, 4*o))(c*((h-k)//d+1)*((w-k)//d+1))",
     "image forgotten"),
    ("02-pooling",
     "lambda h,w,c,k,d: (lambda o: (4*c*(h*w+o), (k*k-1)*c*o))(((h-k)//d+1)*((w-k)//d+1))",
     "another order"),
    ("02-pooling", "lambda h,w,c,k,d: ((k*k-1)*(h//d)*(w//d)*c, 4*c*(h*w+(h//d)*(w//d)))",
     "the whole image in windows"),
    ("02-pooling",
     "lambda h,w,c,k,d: (lambda o: ((k*k-1)*o, 4*(h*w+o)))(((h-k)//d+1)*((w-k)//d+1))",
     "channels forgotten"),
    ("02-pooling",
     "lambda h,w,c,k,d: (lambda o: ((k*k-1)*o*c, 4*(h*w+o*c)))(((h-k)//d+1)*((w-k)//d+1))",
     "channels forgotten"),
    ("02-balance", "lambda f,b,p,w: (b/f, w/p, 'memory' if f/b > p/w else 'compute')",
     "compared the wrong way"),
    ("02-balance", "lambda f,b,p,w: (b/f, w/p, 'memory')", "always memory"),
    ("02-balance", "lambda f,b,p,w: (f/b, w/p, 'memory' if b/f > w/p else 'compute')",
     "upside down"),
    ("02-balance", "lambda f,b,p,w: (f/b, p/w, 'memory' if f/b > p/w else 'compute')", "FLOP/byte"),
    ("02-balance", "lambda f,b,p,w: (b/f*4, w/p, 'memory' if b/f*4 > w/p else 'compute')",
     "a constant factor"),
    ("02-balance", "lambda f,b,p,w: (b/f, w/p, 'memory-bound' if b/f>w/p else 'compute-bound')",
     "another word"),
    ("02-balance", "lambda f,b,p,w: (b/f, w/p, 'bandwidth' if b/f>w/p else 'compute')",
     "memory is bandwidth"),
    ("02-balance", "lambda f,b,p,w: (b/f, w/p, 'memory bound' if b/f>w/p else 'compute bound')",
     "another word"),
    ("02-balance", "lambda f,b,p,w: (b/f, p/w, 'memory' if b/f>p/w else 'compute')",
     "the ridge for the machine"),
    ("02-balance", "lambda f,b,p,w: (b/f, p/w, 'memory' if b/f>w/p else 'compute')",
     "the ridge for the machine"),
    ("02-balance", "lambda f,b,p,w: (w/p, b/f, 'memory' if b/f>w/p else 'compute')",
     "program and machine swapped"),
    ("02-balance", "lambda f,b,p,w: (w/p, b/f, 'memory' if w/p>b/f else 'compute')",
     "program and machine swapped"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (t/(3*n*s), t/(3*n*s)/w, next((k for k,v in c.items() if 2*n*s<=v), "
     "'dram'))", "rate upside down"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (t/(3*n*s), 3*n*s/t/w, next((k for k,v in c.items() if 2*n*s<=v), 'dram'))",
     "rate upside down"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (3*n*s/t, 3*n*s/t/w, next((k for k,v in c.items() if 2*n*s>v), 'dram'))",
     "too large for it"),
    ("02-golf-row-norm",
     "def answer(x):\n"
     "    for i in range(0,len(x),32):\n"
     "        rows = x[i:i+32]\n"
     "        rows = rows/np.sqrt(np.einsum('ij,ij->i',rows,rows))[:,None]\n"
     "    return x", "a new array under an old name"),
    ("02-golf-axpy",
     "def answer(a,x,y):\n"
     "    for i in range(0,len(x),8192):\n"
     "        part = y[i:i+8192]\n"
     "        part = part + a*x[i:i+8192]\n"
     "    return y", "a new array under an old name"),
    ("02-golf-scale-add-scale",
     "def answer(a,b,x,y):\n"
     "    for i in range(0,len(x),8192):\n"
     "        part = y[i:i+8192]\n"
     "        part = b*(part + a*x[i:i+8192])\n"
     "    return y", "a new array under an old name"),
    ("02-golf-bias-relu",
     "def answer(x,b):\n"
     "    for i in range(0,len(x),32):\n"
     "        p = x[i:i+32]\n"
     "        p += b\n"
     "        np.maximum(p, 0)\n"
     "    return x", "the negative stays"),
    ("02-golf-bias-relu",
     "def answer(x,b):\n"
     "    for i in range(0,len(x),32):\n"
     "        p = x[i:i+32]\n"
     "        p = np.maximum(p+b, 0)\n"
     "    return x", "a new array under an old name"),
    ("02-golf-row-norm",
     "def answer(x):\n"
     "    for i in range(0,len(x),32):\n"
     "        rows = x[i:i+32]\n"
     "        rows /= np.einsum('ij,ij->i',rows,rows)[:,None]\n"
     "    return x", "no root"),
    ("02-golf-squares",
     "def answer(x):\n"
     "    total=0\n"
     "    for i in range(0,len(x),8192):\n"
     "        p=x[i:i+8192]\n"
     "        total = p@p\n"
     "    return total", "the last piece alone"),
    ("02-golf-squares", "lambda x: np.sqrt(np.dot(x,x))", "the root taken"),
    ("02-golf-squares", "lambda x: np.sum(np.sqrt(x*x))", "the root of each square"),
    ("02-claim-bias", "lambda m,n,s: (m*n, (2*m*n+n)*s, 0.125)", "4 bytes always"),
    ("02-claim-bias", "lambda m,n,s: (m*n, (2*m*n+n)*s, (2*m*n+n)*s/(m*n))", "bytes per FLOP"),
    ("02-pooling",
     "lambda h,w,c,k,d: (lambda o: ((k*k-1)*o/c, 4*(h*w*c+o)))(c*((h-k)//d+1)*((w-k)//d+1))",
     "channels forgotten"),
    ("02-pooling",
     "lambda h,w,c,k,d: (lambda o: ((k*k-1)*o//c, 4*(h*w*c+o)))(c*((h-k)//d+1)*((w-k)//d+1))",
     "channels forgotten"),
    ("02-pooling", "lambda h,w,c,k,d: (lambda o: ((k*k-1)*o, 4*(h*w*c+o)))(c*(h-k+1)*(w-k+1))",
     "stride ignored"),
    ("02-lines", "lambda a,n,d,s,l: n*d*s", "the stride of each number"),
    ("02-claim-warm",
     "lambda n,s,t,w,c: (3*n/t, 3*n/t/w, next((k for k,v in c.items() if 2*n<=v), 'dram'))",
     "elements for bytes"),
    ("02-golf-axpy",
     "def answer(a, x, y):\n"
     "    for i in range(0, len(x), 10**6):\n"
     "        y[i : i + 10**6] += a * x[i : i + 10**6]\n"
     "    return y", "piece larger than the cache"),
    ("02-golf-axpy",
     "def answer(a, x, y):\n"
     "    for i in range(0, len(x), 4096):\n"
     "        y[i : i + 4096] = a * x[i : i + 4096]\n"
     "    return y", "y forgotten"),
    ("02-golf-axpy",
     "def answer(a, x, y):\n"
     "    for i in range(0, len(x), 4095):\n"
     "        y[i : i + 4096] += a * x[i : i + 4096]\n"
     "    return y", "overlapping pieces"),
    ("02-golf-axpy",
     "def answer(a, x, y):\n"
     "    for i in range(0, len(x), 2048):\n"
     "        y[i : i + 4096] += a * x[i : i + 4096]\n"
     "    return y", "overlapping pieces"),
    ("02-golf-axpy",
     "def answer(a, x, y):\n"
     "    for i in range(0, len(x), 4096):\n"
     "        return y[i : i + 4096] + a * x[i : i + 4096]", "only one piece"),
    ("02-golf-axpy",
     "def answer(a, x, y):\n"
     "    for i in range(0, len(x), 4096):\n"
     "        y[i : i + 4096] += a * x[i : i + 4096]\n"
     "        return y", "only one piece"),
    ("02-golf-axpy",
     "def answer(a, x, y):\n"
     "    x *= a\n"
     "    for i in range(0, len(x), 4096):\n"
     "        y[i : i + 4096] += x[i : i + 4096]\n"
     "    return y", "a call outside the loop"),
    ("02-golf-axpy",
     "def answer(a, x, y):\n"
     "    t = a * x\n"
     "    for i in range(0, len(x), 4096):\n"
     "        y[i : i + 4096] += t[i : i + 4096]\n"
     "    return y", "a call outside the loop"),
    ("02-golf-axpy",
     "def answer(a, x, y):\n"
     "    for i in range(0, len(x), 4096):\n"
     "        x[i : i + 4096] *= a\n"
     "    for i in range(0, len(x), 4096):\n"
     "        y[i : i + 4096] += x[i : i + 4096]\n"
     "    return y", "two loops over the pieces"),
    ("02-golf-squares", "lambda x: np.sum(x)", "not squared"),
    ("02-golf-squares", "lambda x: x * x", "not added up"),
    ("02-golf-squares",
     "def answer(x):\n"
     "    for i in range(0, len(x), 4096):\n"
     "        return x[i : i + 4096] @ x[i : i + 4096]", "only one piece"),
    ("02-golf-squares",
     "lambda x: sum(x[i : i + 4097] @ x[i : i + 4097] for i in range(0, len(x), 4096))",
     "overlapping pieces"),
    ("02-golf-row-norm",
     "def answer(x):\n"
     "    for i in range(0, len(x), 4096):\n"
     "        p = x[i : i + 4096]\n"
     "        p /= np.sqrt(np.einsum('ij,ij->i', p, p))[:, None]\n"
     "    return x", "piece larger than the cache"),
    ("02-golf-row-norm",
     "def answer(x):\n"
     "    for i in range(0, len(x), 64):\n"
     "        p = x[i : i + 64]\n"
     "        p /= np.linalg.norm(p)\n"
     "    return x", "one length for all"),
    ("02-golf-row-norm",
     "def answer(x):\n"
     "    for i in range(0, len(x), 64):\n"
     "        p = x[i : i + 64]\n"
     "        p /= np.sqrt((p * p).sum(axis=0))\n"
     "    return x", "columns for rows"),
    ("02-golf-row-norm",
     "def answer(x):\n"
     "    for i in range(0, len(x), 64):\n"
     "        p = x[i : i + 64]\n"
     "        p /= np.linalg.norm(p, axis=0)\n"
     "    return x", "columns for rows"),
    ("02-golf-row-norm",
     "def answer(x):\n"
     "    for i in range(0, len(x), 64):\n"
     "        p = x[i : i + 64]\n"
     "        p *= np.sqrt(np.einsum('ij,ij->i', p, p))[:, None]\n"
     "    return x", "multiplied"),
    ("02-golf-row-norm",
     "def answer(x):\n"
     "    for i in range(0, len(x), 64):\n"
     "        p = x[i : i + 64]\n"
     "        p /= p.sum(axis=1, keepdims=True)\n"
     "    return x", "not squared"),
    ("02-golf-row-norm",
     "def answer(x):\n"
     "    for i in range(0, len(x), 64):\n"
     "        p = x[i : i + 64]\n"
     "        p = np.divide(p, np.linalg.norm(p, axis=1)[:, None])\n"
     "        return p", "only one piece"),
    ("02-golf-row-norm",
     "def answer(x):\n"
     "    for i in range(0, len(x), 64):\n"
     "        x[i : i + 64] /= np.linalg.norm(x[i : i + 64], axis=1, keepdims=True)\n"
     "        return x", "only one piece"),
    ("02-golf-row-norm", "lambda x: np.array([r / np.linalg.norm(r) for r in x])",
     "pieces joined at the end"),
    ("02-golf-bias-relu",
     "def answer(x, b):\n"
     "    for i in range(0, len(x), 32):\n"
     "        x[i : i + 32] += b\n"
     "    return x", "no ReLU"),
    ("02-golf-bias-relu", "lambda x, b: x + b", "no ReLU"),
    ("02-golf-bias-relu",
     "def answer(x, b):\n"
     "    out = np.empty_like(x)\n"
     "    for i in range(0, len(x), 32):\n"
     "        t = x[i : i + 32] + b\n"
     "        np.maximum(t, 0)\n"
     "        out[i : i + 32] = t\n"
     "    return out", "the negative stays"),
    ("02-golf-bias-relu",
     "def answer(x, b):\n"
     "    for i in range(0, len(x), 32):\n"
     "        p = x[i : i + 32]\n"
     "        p -= b\n"
     "        np.maximum(p, 0, out=p)\n"
     "    return x", "b subtracted"),
    ("02-golf-bias-relu",
     "def answer(x, b):\n"
     "    for i in range(0, len(x), 32):\n"
     "        p = x[i : i + 32]\n"
     "        p *= b\n"
     "        np.maximum(p, 0, out=p)\n"
     "    return x", "b as a factor"),
    ("02-golf-bias-relu",
     "def answer(x, b):\n"
     "    for i in range(0, len(x), 32):\n"
     "        p = x[i : i + 32]\n"
     "        p += b\n"
     "        np.abs(p, out=p)\n"
     "    return x", "the sign dropped"),
    ("02-golf-bias-relu",
     "def answer(x, b):\n"
     "    for i in range(0, len(x), 32):\n"
     "        p = x[i : i + 32]\n"
     "        p += b\n"
     "        np.maximum(p, 0, out=p)\n"
     "        return x", "only one piece"),
    ("02-golf-bias-relu",
     "def answer(x, b):\n"
     "    for i in range(0, len(x), 2000):\n"
     "        p = x[i : i + 2000]\n"
     "        p += b\n"
     "        np.maximum(p, 0, out=p)\n"
     "    return x", "piece larger than the cache"),
    ("02-golf-bias-relu",
     "lambda x, b: [x.__iadd__(b)] + [np.maximum(x[i : i + 8], 0, out=x[i : "
     "i + 8]) for i in range(0, len(x), 8)] and x", "a call outside the loop"),
    ("02-golf-bias-relu",
     "def answer(x, b):\n"
     "    for i in range(0, len(x), 32):\n"
     "        x[i : i + 32] += b\n"
     "    for i in range(0, len(x), 32):\n"
     "        np.maximum(x[i : i + 32], 0, out=x[i : i + 32])\n"
     "    return x", "two loops over the pieces"),
    ("02-golf-bias-relu",
     "def answer(x, b):\n"
     "    for i in range(0, len(x), 31):\n"
     "        p = x[i : i + 32]\n"
     "        p += b\n"
     "        np.maximum(p, 0, out=p)\n"
     "    return x", "overlapping pieces"),
    ("02-golf-scale-add-scale",
     "def answer(a, b, x, y):\n"
     "    for i in range(0, len(x), 4096):\n"
     "        p = y[i : i + 4096]\n"
     "        p += a * x[i : i + 4096]\n"
     "    y *= b\n"
     "    return y", "a call outside the loop"),
    ("02-golf-scale-add-scale",
     "def answer(a, b, x, y):\n"
     "    for i in range(0, len(x), 4096):\n"
     "        y[i : i + 4096] += a * x[i : i + 4096]\n"
     "    for i in range(0, len(x), 4096):\n"
     "        y[i : i + 4096] *= b\n"
     "    return y", "two loops over the pieces"),
    ("02-golf-scale-add-scale",
     "def answer(a, b, x, y):\n"
     "    for i in range(0, len(x), 1000000):\n"
     "        y[i : i + 1000000] = b * (a * x[i : i + 1000000] + y[i : i + 1000000])\n"
     "    return y", "piece larger than the cache"),
    ("02-golf-scale-add-scale",
     "def answer(a, b, x, y):\n"
     "    for i in range(0, len(x), 4096):\n"
     "        p = y[i : i + 4096]\n"
     "        p *= b\n"
     "        p += a * x[i : i + 4096]\n"
     "    return y", "b on y alone"),
    ("02-golf-scale-add-scale",
     "def answer(a, b, x, y):\n"
     "    for i in range(0, len(x), 4096):\n"
     "        p = y[i : i + 4096]\n"
     "        p += a * x[i : i + 4096]\n"
     "    return y", "b forgotten"),
    ("02-golf-scale-add-scale",
     "def answer(a, b, x, y):\n"
     "    for i in range(0, len(x), 4096):\n"
     "        y[i : i + 4096] = b * (a * x[i : i + 4096])\n"
     "    return y", "y forgotten"),
    ("02-golf-scale-add-scale",
     "def answer(a, b, x, y):\n"
     "    for i in range(0, len(x), 4096):\n"
     "        return b * (a * x[i : i + 4096] + y[i : i + 4096])", "only one piece"),
    ("02-golf-scale-add-scale",
     "def answer(a, b, x, y):\n"
     "    for i in range(0, len(x), 4095):\n"
     "        y[i : i + 4096] = b * (a * x[i : i + 4096] + y[i : i + 4096])\n"
     "    return y", "overlapping pieces"),
    ("02-golf-row-norm",
     "def answer(x):\n"
     "    for i in range(0, len(x), 64):\n"
     "        p = x[i : i + 64]\n"
     "        p /= np.sqrt(np.einsum('ij,ij->i', p, p))\n"
     "    return x", "lengths in a row"),
    ("02-golf-row-norm",
     "def answer(x):\n"
     "    for i in range(0, len(x), 64):\n"
     "        p = x[i : i + 64]\n"
     "        p //= np.linalg.norm(p, axis=1)[:, None]\n"
     "    return x", "whole numbers"),
    ("02-golf-bias-relu",
     "def answer(x, b):\n"
     "    for i in range(0, len(x), 32):\n"
     "        x[i : i + 32] = np.maximum(x[i : i + 32] + b[i : i + 32], 0)\n"
     "    return x", "b in another shape"),
    ("02-golf-bias-relu",
     "def answer(x, b):\n"
     "    for i in range(0, len(x), 32):\n"
     "        x[i : i + 32] = max(x[i : i + 32] + b, 0)\n"
     "    return x", "max for np.maximum"),
    ("02-golf-axpy",
     "def answer(a, x, y):\n"
     "    out = np.empty_like(y)\n"
     "    for i in range(0, len(x), 4096):\n"
     "        out[i : i + 4096] = a * x[i : i + 4096] + y[i : i + 4096]\n"
     "    y[:] = out\n"
     "    return y", "a call outside the loop"),
]  # fmt: skip

TOLD = [
    ("02-numpy-bytes", "lambda n, s: (q * n * s for q in (5, 3))",
     "a generator, which has not run yet"),
    ("02-numpy-bytes", "lambda n, s: map(lambda q: q * n * s, (5, 3))",
     "a map, which has not run yet"),
    ("02-numpy-bytes",
     "async def answer(n, s):\n"
     "    return 5 * n * s, 3 * n * s", "write def, not async def"),
    ("02-balance", "lambda f, b, p, w: (b / f, w / p, ['memory'])", "a text is wanted"),
    ("02-numpy-bytes", "lambda n, s: {'numpy': 5 * n * s}",
     "2 keys are wanted: NumPy bytes, AXPY bytes"),
    ("02-claim-bias", "lambda m, n, s: {'bytes': 2 * m * n * s, 'adds': m * n, 'ratio': 1}",
     "3 keys are wanted: FLOPs, bytes, intensity"),
    ("02-balance", "lambda f, b, p, w: (b / f, w / p, 'mem' if b / f > w / p else 'comp')",
     "one of these words is wanted: compute, memory"),
    ("02-balance",
     "lambda f, b, p, w: (b / f, w / p, 'memory-bound' if b / f > w / p else 'compute-bound')",
     "one of these words is wanted: compute, memory"),
    ("02-balance", "lambda f, b, p, w: (b / f, w / p, b / f > w / p)", "a text is wanted"),
    ("02-claim-warm", "lambda n, s, t, w, c: (3 * n * s / t, 3 * n * s / t / w, 'memory')",
     "one of these words is wanted: dram, l1, l2, l3"),
    ("02-golf-axpy",
     "def answer(a, x, y):\n"
     "    import scipy.linalg.blas\n"
     "    return scipy.linalg.blas.daxpy(x, y, a=a)",
     "it may move few bytes, but golf cannot count them"),
    ("02-golf-squares", "lambda x: np.sum(np.sort(x) ** 2)", "np.sort: golf has no count for it"),
    ("02-golf-squares", "lambda x: sum(x * x)", "give golf larger chunks"),
    ("02-golf-axpy",
     "import math\n"
     "async def answer(a, x, y):\n"
     "    return a * x + y", "write `def`, not `async def`"),
    ("02-golf-axpy",
     "def answer(a, x, y):\n"
     "    y += a * x", "it returned None for every case; does it reach a return?"),
    ("02-golf-axpy",
     "lambda a, x, y: [a * x[i : i + 4096] + y[i : i + 4096] for i in range(0, len(x), 4096)]",
     "parts differ in length"),
    ("02-golf-squares", "lambda x: {'sum': x @ x}",
     "a dict came back; an array of numbers is wanted, or one number"),
]  # fmt: skip
