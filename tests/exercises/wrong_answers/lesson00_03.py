"""Answers to lessons 00 to 03 that are wrong on some input that the question allows.

One row an answer: exercise, source (see dress). Each was right on every case once, or might be: one
argument constant, a size that a piece divides, no tie, a border that no case comes near.
"""

ROWS = [
    ("00-bandwidth", "lambda seconds, n, itemsize: 2*n*(4 if itemsize == 4 else 8)/min(seconds)"),
    ("00-lunch",
     "def answer(peak_a, bandwidth_a, peak_b, bandwidth_b, itemsize):\n"
     "    slow, fast = sorted([(bandwidth_a, peak_a), (bandwidth_b, peak_b)])\n"
     "    return itemsize*fast[1]/slow[0] if slow[1] >= fast[1] else 0"),
    ("00-peak", "lambda k, seconds, n: n*k[-1]/(seconds[-1] - seconds[-2])"),
    ("01-cuda-axpy",
     "def answer(cp, x, y, a):\n    cp.cublas.axpy(a, x, y)\n"
     "    start, stop = cp.cuda.Event(), cp.cuda.Event()\n    start.record()\n"
     "    for _ in range(10):\n        cp.cublas.axpy(a, x, x)\n    stop.record()\n"
     "    stop.synchronize()\n    return cp.cuda.get_elapsed_time(start, stop) / 1000 / 10"),
    ("01-cuda-gemm",
     "def answer(cp, A, B, C, peak):\n    cp.matmul(A, B, out=C)\n"
     "    start, stop = cp.cuda.Event(), cp.cuda.Event()\n    start.record()\n"
     "    for _ in range(10):\n        cp.matmul(A, B, out=C)\n    stop.record()\n"
     "    stop.synchronize()\n    seconds = cp.cuda.get_elapsed_time(start, stop) / 1000 / 11\n"
     "    rate = 2*len(A)**3 / seconds\n    return seconds, rate, rate / peak"),
    ("01-cuda-gemv",
     'def answer(cp, A, x, y, bandwidth):\n'
     '    big = cp.ones(cp.cuda.Device().attributes["L2CacheSize"], dtype=cp.float32)\n'
     '    cp.matmul(A, x, out=y); big.sum()\n'
     '    events = [(cp.cuda.Event(), cp.cuda.Event()) for _ in range(10)]\n'
     '    for start, stop in events:\n        big.sum()\n        start.record()\n'
     '        cp.matmul(A, x, out=y)\n        stop.record()\n    stop.synchronize()\n'
     '    times = [cp.cuda.get_elapsed_time(*pair) for pair in events]\n'
     '    seconds = sum(times) / 11 / 1000\n'
     '    rate = (A.nbytes + x.nbytes + y.nbytes) / seconds\n'
     '    return seconds, rate, rate / bandwidth'),
    ("01-product",
     "def answer(m, n, k, itemsize, accumulate=True):\n"
     "    moved = (m*k + k*n + (1 + accumulate)*m*n)*itemsize\n"
     "    return 2*m*n*k, moved, 2*m*n*k/moved"),
    ("01-witnesses",
     'def answer(n, itemsize, t_axpy, t_gemv, t_gemm):\n'
     '    peak, a, v = 2*n**3/t_gemm, 3*n*n*itemsize/t_axpy, (n*n + 2*n)*itemsize/t_gemv\n'
     '    if a > 1.75*v: return peak, v, "axpy"\n    if v > 1.75*a: return peak, a, "gemv"\n'
     '    return peak, max(a, v), "nobody"'),
    ("02-balance",
     "lambda flops, nbytes, peak, bandwidth: (nbytes/flops, bandwidth/peak, 'memory' if "
     "nbytes/flops > 0.03 else 'compute')"),
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
    ("03-ridge-grew",
     "def answer(peaks, bandwidths, m):\n"
     "    ridges = [round(p/b) for p, b in zip(peaks, bandwidths)]\n"
     "    at = m*4096/(2*m + 4096)\n    steps = list(zip(ridges, ridges[1:]))\n"
     "    return [b < a for a, b in steps], [(at < a) != (at < b) for a, b in steps]"),
    ("03-thumb-rules", "lambda peak, bandwidth: (peak // bandwidth >= 4, peak // bandwidth <= 8)"),
    ("03-worth-the-call",
     "lambda call, peak, bandwidth, itemsize: next(n for n in range(1, 1000) if "
     "max(2*n**3/peak, 3*n*n*itemsize/bandwidth) >= call)"),
    ("00-bandwidth", "lambda s,n,i: 2*n*max(2,i)/min(s)"),
    ("00-peak", "lambda k,s,n: 2*n*128/(s[-1]-s[-2])"),
    ("00-time", "lambda k,n,i,p,b: 2*n*k/p if k >= 10*p/b else 2*n*i/b"),
    ("00-lunch",
     "def answer(pa,ba,pb,bb,i):\n    s,f=sorted([(ba,pa),(bb,pb)])\n"
     "    return i*f[1]/s[0] if s[1]>1.1*f[1] else 0"),
    ("01-product",
     "def answer(m,n,k,s,a=False):\n    f=2*m*n*k\n    t=(m*k+k*n+(1+a)*m*n)*s\n"
     "    return f,t,max(1, f/t)"),
    ("01-three-intensities", "lambda n: (1/3, 1, min(n, 8192)/3)"),
    ("01-speed-limit", "lambda p,b,s: 1.5*s*(p//b)"),
    ("01-witnesses",
     "def answer(n,s,a,v,m):\n    A,V,P=3*n*n*s/a,(n*n+2*n)*s/v,2*n**3/m\n"
     "    return (P,V,'axpy') if A>1.95*V else (P,A,'gemv') if V>1.95*A else "
     "(P,max(A,V),'nobody')"),
    ("01-name",
     "def answer(f,b,s):\n    a,m=f/2,b/s\n"
     "    return 'gemm' if m<a/10 else 'axpy' if abs(m-3*a)<1 else 'gemv' if m<1.5*a else "
     "'dot' if m<2*a+2 else 'outer'"),
    ("02-numpy-bytes", "lambda n,s: (5*min(n,10**8)*s, 3*min(n,10**8)*s)"),
    ("02-balance", "lambda f,b,p,w: (b/f, w/p, 'memory' if b/f>1.05*w/p else 'compute')"),
    ("02-golf-axpy",
     "def answer(a,x,y):\n    for i in range(0,len(x),8192): y[i:i+8192] += 0.5*x[i:i+8192]\n"
     "    return y"),
    ("02-golf-axpy",
     "def answer(a,x,y):\n    for i in range(0,len(x)-256,4096): y[i:i+4096] += a*x[i:i+4096]\n"
     "    return y"),
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
    ("03-time", "lambda f,n,p,b: f/p if f/n > 1.1*p/b else n/b"),
    ("03-thumb-rules", "lambda p,b: (round(p/b)>=4, round(p/b)<=8)"),
    ("03-counterexample",
     "def answer(f,n,p,b):\n"
     "    x=[u/v for u,v in zip(f,n)]; t=[max(u/p,v/b) for u,v in zip(f,n)]\n"
     "    return next((i,j) for i in range(4) for j in range(4) if x[i]>x[j] and t[i]>=t[j])"),
    ("03-ridge-grew",
     "def answer(P,B,m):\n    r=[p/b for p,b in zip(P,B)]; at=m*4096/(2*m+4096)\n"
     "    return [b<.99*a for a,b in zip(r,r[1:])],[(at<a)!=(at<b) for a,b in zip(r,r[1:])]"),
    ("03-number-type", "lambda b,p,s,q,r: (math.floor(1.5*s*p/b)+1, math.floor(1.5*r*q/b)+1)"),
    ("03-worth-the-call",
     "lambda c,p,b,s: next(n for n in range(2,10**5) if max(2*n**3/p, 3*n*n*s/b) >= c)"),
    ("03-sparse-peak", "lambda i,c,b: 1 if i<.51*c/b else 2 if i>c/b else 2*i*b/c"),
    ("01-cuda-gemm",
     "def answer(cp, A, B, C, peak):\n    cp.matmul(A, B, out=C)\n"
     "    start, stop = cp.cuda.Event(), cp.cuda.Event()\n    start.record()\n"
     "    cp.matmul(A, B, out=C)\n    stop.record()\n    stop.synchronize()\n"
     "    s = cp.cuda.get_elapsed_time(start, stop) / 1000\n    rate = 2 * 4096**3 / s\n"
     "    return s, rate, rate / peak"),
    ("01-cuda-axpy",
     "def answer(cp, x, y, a):\n    cp.cublas.axpy(a, x, y)\n"
     "    start, stop = cp.cuda.Event(), cp.cuda.Event()\n    start.record()\n"
     "    for _ in range(10): cp.cublas.axpy(a, x, y)\n    stop.record()\n"
     "    stop.synchronize()\n"
     "    return round(cp.cuda.get_elapsed_time(start, stop) / 1000 / 10, 4)"),
    ("01-cuda-axpy",
     "def answer(cp, x, y, a):\n    cp.cublas.axpy(a, x, y)\n"
     "    start, stop = cp.cuda.Event(), cp.cuda.Event()\n    start.record()\n"
     "    cp.cublas.axpy(a, x, y)\n    stop.record()\n    stop.synchronize()\n"
     "    return 0.93 * cp.cuda.get_elapsed_time(start, stop) / 1000"),
]  # fmt: skip
