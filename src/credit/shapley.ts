/**
 * Shapley values by their definition (Shapley 1953), over all 2ⁿ coalitions: each player's mean contribution over all orders
 * in which the players may come.
 * @param players in an order that coalitions are asked for in.
 * @param worth of a coalition; `null` where it is not known.
 * @returns each player's part: together they are worth(all) − worth(nobody); `null` for all when any worth is not known.
 */
export function shapley<P>(
  players: readonly P[],
  worth: (coalition: readonly P[]) => number | null,
): ReadonlyMap<P, number | null> {
  const n = players.length
  const worths = Array.from({ length: 2 ** n }, (_, mask) => worth(players.filter((__, i) => has(mask, i))))
  if (worths.includes(null)) return new Map(players.map((player) => [player, null]))
  return new Map(
    players.map((player, i) => {
      let part = 0
      for (const [mask, without] of worths.entries()) {
        if (has(mask, i)) continue
        const size = players.filter((_, j) => has(mask, j)).length
        part += weight(size, n) * ((worths[mask + 2 ** i] ?? 0) - (without ?? 0))
      }
      return [player, part]
    }),
  )
}

const has = (mask: number, i: number) => Math.floor(mask / 2 ** i) % 2 === 1

/** The share of all orders of n players in which just these so many come before a given one: s!(n−s−1)!/n!. */
function weight(size: number, n: number): number {
  let choose = 1
  for (let k = 1; k <= size; k++) choose = (choose * (n - k)) / k
  return 1 / (n * choose)
}
