"""Public calls, as somebody writes them in a repository of their own; the last two are wrong."""

import rooflab as rl

x = rl.Operand("x", (1000,), "fp32")
y = rl.Operand("y", 1000, rl.dtype("fp32"), reads=1, writes=1)
own = rl.Operation("mine", {"n": 1000}, (x, y), 2000, "fp32")
card = rl.Machine("card", peaks={"bf16": 1e14}, bandwidths=1e12, capacities=80e9)
core = rl.Machine("core", peaks={"fp32": 1e11}, bandwidths={"dram": 2e10, "l2": {"copy": 1e11}})
tiny = rl.Model(hidden=64, layers=2, heads=4, kv_heads=None, intermediate=128, name="tiny")
h100 = rl.machine("h100-sxm")
ridge: float = rl.Roofline(h100, "bf16").ridge
names: list[str] = [m.name for m in rl.machines().values()]
op = rl.gemm(64, 64, 64, "bf16")
moved: float = op.bytes + own.intensity + rl.conv2d(1, 3, 8, 224, 224, 3).bytes
step = rl.model("llama-3.1-70b").decode(32, 8192, weights="fp8", kv="fp8")
rate: float = 32 / step.bound("h200-sxm")
seconds: float = rl.predict(op, h100).seconds
why = rl.explain(op, h100, seconds=80e-6)
print(why.sentence, why.share, rl.si(seconds, "s"), ridge, names[0], rate, card.bandwidth())
taken = rl.measure(rl.axpy(1000, "fp32"), cache="warm")
print(taken.median_s, taken.op.flops, rl.this_machine().peak("fp32"), core.capacities, tiny.heads)
nest = rl.loops.Nest({"i": 8, "j": 8, "k": 8}, "C[i,j] += A[i,k]*B[k,j]")
verdict = nest.split("i", 4).check()
print(bool(verdict), nest.stream(), rl.cache.gemm_bounds(300, 300, 300, 48 << 10))
traffic = rl.cache.simulate(nest.stream(), rl.cache.Cache("L1", 32 << 10, 8)).traffic()
print(traffic.bytes, rl.search.operator("y[i] += a*x[i]", {"i": 1000}).operation())
live = rl.live.roofline("h100-sxm", ops="gemv", dtype="bf16", n=1024)
live.j = 3
print(live.sentence, rl.memory.energy(op), rl.recordings())
picture = rl.show.roofline("h100-sxm", [op, rl.show.Point(op, 1e12), (1.5, 2e10)], width=3.3)
picture.save("x.pdf")
rl.show.waterfall(taken)
print(rl.attention(2, 128, 128, 8, head_dim=64), rl.dtype("int4", group=128))
print(rl.check("01-product", print).passed, rl.golf(sum, 3.0))
rl.gemm("a", 2, 3)
rl.nonsense(3)
