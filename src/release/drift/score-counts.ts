/** How often each score was seen, rising by score. */
export type ScoreCounts = readonly (readonly [score: number, count: number])[]

/** With one more of `score`. */
export function counted(counts: ScoreCounts, score: number): ScoreCounts {
  const at = counts.findIndex(([other]) => other >= score)
  if (at === -1) return [...counts, [score, 1]]
  const [other, count] = counts[at] ?? [score, 0]
  return other === score ? counts.with(at, [score, count + 1]) : counts.toSpliced(at, 0, [score, 1])
}

/**
 * The conformal p-value of the latest score, which is among the counts: the share of scores that are larger, and of those
 * that are equal the part `tie`. If the scores are exchangeable and `tie` is uniform, then the p-values are independent
 * and uniform on (0, 1), whatever the scores' law is (Vovk, Gammerman & Shafer 2005, theorem 8.2).
 * @param tie in (0, 1].
 */
export function conformalPValue(counts: ScoreCounts, score: number, tie: number): number {
  let [total, larger, equal] = [0, 0, 0]
  for (const [other, count] of counts) {
    total += count
    if (other > score) larger += count
    if (other === score) equal += count
  }
  return (larger + tie * equal) / total
}
