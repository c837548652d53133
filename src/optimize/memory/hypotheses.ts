import { sha256 } from '../../core/index.ts'
import { upperQuantile } from './normal.ts'

/** What one episode says of insights: words that it was asked with, what was done, and how it went. */
export interface Observation {
  readonly words: readonly string[]
  readonly did: string
  readonly signal: number
  readonly source: string
}

/** What might hold: where a word was asked with, doing this goes better than doing otherwise. */
export interface Hypothesis {
  readonly word: string
  readonly did: string
  /** What it foretells, on episodes that it was not found in. */
  readonly better: number
  readonly otherwise: number
  readonly episodes: number
}

/** Episodes of each side, in either half, that a comparison needs. */
const fewest = 4
/** Hypotheses that are tested on held-out episodes, the most promising. */
const tried = 16

/**
 * Finds what seems to hold in half of the episodes, and keeps what holds in the other half: an explanation is worth as much
 * as it predicts. Halves are by source, so that no attempt at a task confirms another; the level is divided by the number
 * of hypotheses that were tested (Bonferroni).
 */
export function confirmed(observations: readonly Observation[], alpha = 0.05): readonly Hypothesis[] {
  const found = observations.filter(({ source }) => !isHeldOut(source))
  const heldOut = observations.filter(({ source }) => isHeldOut(source))
  const promising = candidatesIn(found)
    .map(({ word, did }) => ({ word, did, ...compared(found, word, did) }))
    .filter(({ z }) => z > 0)
    .toSorted((a, b) => b.z - a.z || (a.word + a.did < b.word + b.did ? -1 : 1))
    .slice(0, tried)
  const needed = upperQuantile(alpha / Math.max(1, promising.length))
  return promising.flatMap(({ word, did }) => {
    const { z, better, otherwise, episodes } = compared(heldOut, word, did)
    return z >= needed ? [{ word, did, better, otherwise, episodes }] : []
  })
}

/** Whether episodes that something was not found in say that it holds; `null` where they are too few to compare. */
export function agrees(observations: readonly Observation[], { word, did }: Pick<Hypothesis, 'word' | 'did'>) {
  const heldOut = observations.filter(({ source }) => isHeldOut(source))
  const { enough, better, otherwise } = compared(heldOut, word, did)
  return enough ? better > otherwise : null
}

const isHeldOut = (source: string) => Number.parseInt(sha256(`insight ${source}`).slice(0, 2), 16) % 2 === 0

function candidatesIn(observations: readonly Observation[]): readonly Pick<Hypothesis, 'word' | 'did'>[] {
  const counts = new Map<string, number>()
  for (const { words, did } of observations) {
    for (const word of words)
      counts.set(JSON.stringify([word, did]), (counts.get(JSON.stringify([word, did])) ?? 0) + 1)
  }
  return [...counts].flatMap(([key, count]) => {
    const [word = '', did = ''] = JSON.parse(key) as readonly string[]
    return count < fewest ? [] : [{ word, did }]
  })
}

/** Two means and how far apart they are, in standard errors (Welch); 0 where either side is too small to say. */
function compared(observations: readonly Observation[], word: string, did: string) {
  const about = observations.filter(({ words }) => words.includes(word))
  const done = momentsOf(about.filter((one) => one.did === did))
  const other = momentsOf(about.filter((one) => one.did !== did))
  const episodes = done.count + other.count
  const error = Math.sqrt(done.variance / done.count + other.variance / other.count)
  const enough = done.count >= fewest && other.count >= fewest
  return {
    enough,
    z: enough ? (done.mean - other.mean) / error : 0,
    better: done.mean,
    otherwise: other.mean,
    episodes,
  }
}

/** Signals lie in [-1, 1]: where all are equal, chance is still given one in so many to differ. */
function momentsOf(side: readonly Observation[]) {
  const count = side.length
  const mean = side.reduce((sum, { signal }) => sum + signal, 0) / count
  const variance = side.reduce((sum, { signal }) => sum + (signal - mean) ** 2, 0) / Math.max(1, count - 1)
  return { count, mean, variance: Math.max(variance, 1 / (count + 1)) }
}
