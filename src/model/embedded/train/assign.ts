/**
 * Spreads pieces of work over workers: largest first, to the worker with the least so far. Each worker's pieces keep
 * their order, and equal input gives an equal answer.
 */
export function assign(work: readonly number[], workers: number): number[][] {
  const queues = Array.from({ length: workers }, () => ({ load: 0, pieces: [] as number[] }))
  const order = [...work.keys()].sort((a, b) => (work[b] ?? 0) - (work[a] ?? 0) || a - b)
  for (const piece of order) {
    const least = queues.reduce((best, queue) => (queue.load < best.load ? queue : best))
    least.load += work[piece] ?? 0
    least.pieces.push(piece)
  }
  return queues.map(({ pieces }) => pieces.sort((a, b) => a - b))
}
