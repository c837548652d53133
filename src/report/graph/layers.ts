/** Something to be placed: what it comes after is drawn above it. */
export interface Placeable {
  readonly id: string
  readonly after: readonly string[]
}

/** A point of the drawing; `id` is `null` where only a line passes. */
export interface Place {
  readonly id: string | null
  readonly layer: number
  readonly x: number
}

/** A line from what is read to what reads it, through places that nothing else takes. */
export interface Route {
  readonly from: string
  readonly to: string
  readonly places: readonly Place[]
}

export interface Layout {
  readonly places: ReadonlyMap<string, Place>
  readonly routes: readonly Route[]
  readonly layers: number
  readonly width: number
}

interface Slot {
  readonly id: string | null
  readonly layer: number
  readonly up: Slot[]
  readonly down: Slot[]
  order: number
}

const sweeps = 8

/**
 * Places an acyclic graph in layers, so that everything is below what it comes after (Sugiyama et al. 1981): the layer is
 * the longest way from the top; lines that are longer than a layer get a slot in each, so that they pass between the boxes;
 * and each layer is ordered by the mean place of its neighbours, downwards and upwards in turn, against crossings.
 * @param items in an order in which each comes after those that it names; other names are passed over.
 * @param box width that a box takes with its gap; `line`: that a line takes.
 */
export function layersOf(
  items: readonly Placeable[],
  { box, line }: { readonly box: number; readonly line: number },
): Layout {
  const slots = new Map<string, Slot>()
  const rows: Slot[][] = []
  const put = (id: string | null, layer: number): Slot => {
    const row = (rows[layer] ??= [])
    const slot: Slot = { id, layer, up: [], down: [], order: row.length }
    row.push(slot)
    return slot
  }
  const lines: { readonly from: string; readonly to: string; readonly slots: readonly Slot[] }[] = []
  for (const { id, after } of items) {
    const above = after.flatMap((name) => slots.get(name) ?? [])
    const slot = put(
      id,
      above.reduce((deepest, { layer }) => Math.max(deepest, layer + 1), 0),
    )
    slots.set(id, slot)
    for (const from of above) {
      const path = [from]
      for (let layer = from.layer + 1; layer < slot.layer; layer++) path.push(put(null, layer))
      path.push(slot)
      for (const [i, lower] of path.entries()) {
        const upper = path[i - 1]
        upper?.down.push(lower)
        if (upper) lower.up.push(upper)
      }
      lines.push({ from: from.id ?? '', to: id, slots: path })
    }
  }

  const widthOf = ({ id }: Slot) => (id === null ? line : box)
  const xs = new Map<Slot, number>()
  const spread = (row: Slot[]) => {
    const width = row.reduce((sum, slot) => sum + widthOf(slot), 0)
    let x = -width / 2
    for (const slot of row) {
      xs.set(slot, x + widthOf(slot) / 2)
      x += widthOf(slot)
    }
  }
  rows.forEach(spread)
  const mean = (of: readonly Slot[], otherwise: number) =>
    of.length === 0 ? otherwise : of.reduce((sum, slot) => sum + (xs.get(slot) ?? 0), 0) / of.length
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const down = sweep % 2 === 0
    for (const row of down ? rows : rows.toReversed()) {
      const wanted = new Map(row.map((slot) => [slot, mean(down ? slot.up : slot.down, xs.get(slot) ?? 0)]))
      row.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0) || a.order - b.order)
      for (const [order, slot] of row.entries()) slot.order = order
      spread(row)
    }
  }

  const width = Math.max(box, ...rows.map((row) => row.reduce((sum, slot) => sum + widthOf(slot), 0)))
  const placeOf = (slot: Slot): Place => ({ id: slot.id, layer: slot.layer, x: (xs.get(slot) ?? 0) + width / 2 })
  return {
    places: new Map([...slots].map(([id, slot]) => [id, placeOf(slot)])),
    routes: lines.map(({ from, to, slots: path }) => ({ from, to, places: path.map(placeOf) })),
    layers: rows.length,
    width,
  }
}
