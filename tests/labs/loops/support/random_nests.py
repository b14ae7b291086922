"""Random small nests and schedules, from a seed."""

from __future__ import annotations

import random

from rooflab.labs.loops.nest import Nest

TEXTS = (
    "A[i,j] = A[i-1,j+1]*0.5",
    "A[i,j] = A[i-1,j]*0.5 + A[i,j-1]*0.25",
    "A[i,j] = A[i+1,j-1] + A[i-1,j]",
    "A[j,i] = A[i,j]*0.5",
    "A[2*i,j] = A[i,j+1]*0.5",
    "A[i,1] = A[i-1,j]*0.5",
    "A[i+j] = A[i+j]*0.5 + B[i,j]",
    "A[i-j+5] += B[i]*0.5",
    "C[i] += A[i,j]*0.5",
    "C[j] += A[i,j]*C[j]*0.125",
    "C[i] += C[i-1]*A[i,j]*0.125",
    "C[i] = max(C[i], A[i,j])",
    "B[i,j] = A[i,j]*2; C[i,j] = B[i,j] + B[i-1,j]",
    "B[i,j] = A[i,j]*2; C[i,j] = B[i,j-1] + 1",
    "B[i,j] = A[i,j]*2; C[i,j] = B[i+1,j]*0.5",
    "C[i] += A[i,j]; D[i,j] = C[i]*0.5",
    "A[i,j] = B[i]*2; B[i] = A[i,j-1]*0.5",
    "A[i,i] = A[i,j]*0.5",
    "B[i,j] = A[i,j]; D[j,i] = B[i,j]*2; A[i,j] = D[j,i-1] + 1",
    "A[0,j] = A[i,j]*0.5",
    "B[j] = 2*A[i,j]; C[i] += B[i]",
)
CUBES = ("C[i,j] += A[i,k]*B[k,j]", "A[i,j] = A[i-1,j+1] + B[k,j]", "C[k] += A[i,j]*C[k-1]*0.1")


def nest(seed: int) -> tuple[Nest, random.Random]:
    """A nest of two or three loops, and the dice that go on."""
    dice = random.Random(seed)
    cube = dice.random() < 0.25
    text = dice.choice(CUBES if cube else TEXTS)
    most = 4 if cube else 6
    extents = {name: (1, 1 + dice.randint(2, most)) for name in ("ijk" if cube else "ij")}
    return Nest(extents, text, order=dice.choice(("body", "nests"))), dice


def scheduled(seed: int, steps: int = 5) -> Nest:
    """A random nest after up to ``steps`` random transformations; those refused are left out."""
    made, dice = nest(seed)
    for _ in range(dice.randint(1, steps)):
        try:
            made = _step(made, dice)
        except ValueError:
            continue
    return made


def _step(made: Nest, dice: random.Random) -> Nest:
    def pick() -> str:
        name = dice.choice(made.loops)
        if made.loops.count(name) > 1:
            name = f"{dice.choice(made.statements).name}.{name}"
        return name

    kind = dice.choice(
        ("split", "split", "tile", "interchange", "interchange", "reverse", "skew", "shift")
        + ("coalesce", "fuse", "fuse", "distribute", "vectorize", "parallel", "reorder")
    )
    if kind == "split":
        return made.split(pick(), dice.randint(1, 4))
    if kind == "tile":
        return made.tile({pick(): dice.randint(1, 3), pick(): dice.randint(1, 3)})
    if kind in ("interchange", "coalesce"):
        return getattr(made, kind)(pick(), pick())
    if kind == "skew":
        return made.skew(pick(), pick(), dice.choice((-1, 1, 2)))
    if kind == "shift":
        return made.shift(pick(), dice.choice((-1, 1, 2)), dice.choice(made.statements).name)
    if kind == "fuse":
        names = [one.name for one in made.statements]
        return made.fuse(*dice.sample(names, 2)) if len(names) > 1 else made
    if kind == "reorder":
        return made.reorder(*dice.sample(sorted(set(made.loops)), len(set(made.loops))))
    return getattr(made, kind)(pick())
