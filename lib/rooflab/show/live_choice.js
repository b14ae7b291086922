// What is chosen in a live roofline, and what the packed tables hold for it.

function chosen(model, data) {
  const [, J, K] = data.shape, machines = new Map(data.machines.map((m) => [m.id, m]));
  const machine = () => machines.get(model.get("machine")), kind = () => model.get("dtype");
  const roofs = (side) => machine()?.roofs[kind()]?.[side];
  // "both" shows cold and warm; without a warm figure there is only cold.
  const sides = () => (model.get("cache") === "cold" || !roofs("warm") ? ["cold"] : model.get("cache") === "both" ? ["cold", "warm"] : ["warm"]);
  const flat = () => (model.get("i") * J + model.get("j")) * K + model.get("k");
  const points = (what, name, side) => machine()?.[what]?.[kind()]?.[side]?.[name];
  return {
    machines, machine, kind, sides, flat, points,
    roofs: () => roofs(sides().at(-1)), // warm's hold cold's
    names: () => model.get("ops"),
    shows: (name) => model.get("ops").includes(name),
    row: () => model.get("i") * K + model.get("k"), // where the second slider changes nothing
    level(name, side) {
      const home = machine()?.home?.[kind()]?.[name];
      return side === "warm" && home ? data.levels[view(home).getUint8(flat())] : "dram";
    },
    levels() { return model.get("ops").flatMap((name) => sides().map((side) => this.level(name, side))); },
    call: (name, side) => points("calls", name, side),
    decades() { // of FLOP/s on the axis: the machine's own, or locked ones that hold it as well
      const own = machine().decades, locked = model.get("decades");
      return locked.length ? [Math.min(locked[0], own[0]), Math.max(locked[1], own[1])] : own;
    },
  };
}
