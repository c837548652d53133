// Tells two classes of records apart, if anything in them does: logistic regression on hashed features.
import { rng } from '../../src/core/index.ts'

const size = 4_096

/** A record as the features that it has. */
export interface Labelled {
  readonly features: ReadonlySet<string>
  readonly label: boolean
}

export interface Verdict {
  /** Share of the held-out records that are told right. */
  readonly accuracy: number
  /** Of chance: how likely it is to tell so many right, or so many wrong, by guessing. */
  readonly p: number
}

/** Learns on the first half of the records, in an order drawn by `seed`, and is tested on the other. */
export function distinguish(records: readonly Labelled[], seed = 0): Verdict {
  const hashed = rng('distinguisher', seed)
    .shuffle(records)
    .map(({ features, label }) => ({ label, at: [...features].map(placeOf) }))
  const half = Math.floor(hashed.length / 2)
  const weights = new Float64Array(size)
  let bias = 0
  const chanceOf = (at: readonly number[]) =>
    1 / (1 + Math.exp(-(bias + at.reduce((sum, i) => sum + (weights[i] ?? 0), 0))))
  for (let epoch = 0; epoch < 30; epoch++) {
    const rate = 0.3 / (1 + epoch)
    for (const { label, at } of hashed.slice(0, half)) {
      const error = (label ? 1 : 0) - chanceOf(at)
      bias += rate * error
      const step = (rate * error) / Math.sqrt(Math.max(1, at.length))
      for (const i of at) weights[i] = (weights[i] ?? 0) * (1 - 1e-4) + step
    }
  }
  const tested = hashed.slice(half)
  const right = tested.filter(({ label, at }) => chanceOf(at) > 0.5 === label).length
  return { accuracy: right / tested.length, p: byChance(right, tested.length) }
}

/** FNV-1a. */
function placeOf(feature: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < feature.length; i++) hash = Math.imul(hash ^ feature.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % size
}

/** Two-sided, of a binomial of one half. */
function byChance(right: number, n: number): number {
  const extreme = Math.max(right, n - right)
  let [p, term] = [0, n * Math.log(0.5)]
  for (let k = n; k >= extreme; k--) {
    p += Math.exp(term)
    term += Math.log(k) - Math.log(n - k + 1)
  }
  return Math.min(1, 2 * p)
}

/**
 * The features of a value: each path that it has, the values and shapes of its leaves, how long and how large they are.
 * @param skip paths whose words are not looked at, as they are the answer itself.
 */
export function featuresOf(value: unknown, skip: (path: string) => boolean, path = ''): Set<string> {
  const found = new Set<string>([`${path}?`])
  if (Array.isArray(value)) {
    found.add(`${path}#${value.length}`)
    for (const one of value) for (const feature of featuresOf(one, skip, `${path}[]`)) found.add(feature)
  } else if (typeof value === 'object' && value !== null) {
    found.add(`${path}{${Object.keys(value).join()}}`)
    for (const [key, one] of Object.entries(value)) {
      for (const feature of featuresOf(one, skip, `${path}.${key}`)) found.add(feature)
    }
  } else if (!skip(path)) {
    const text = String(value)
    found.add(`${path}=${text}`)
    found.add(`${path}~${typeof value}:${text.replaceAll(/[0-9]+/g, '9').replaceAll(/[a-f9]{8,}/g, 'x')}`)
    if (typeof value === 'string') found.add(`${path}^${text.slice(0, 5)}`).add(`${path}|${text.length}`)
    if (typeof value === 'number') {
      for (const unit of [10, 100, 1_000]) found.add(`${path}/${unit}:${Math.round(value / unit)}`)
    }
  }
  return found
}
