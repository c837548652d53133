import type { EpisodeBudget } from '../agent/index.ts'
import { LearnError } from './errors.ts'
import type { LearnOptions, RolloutOptions, RunOptions, TrafficOptions } from './options.ts'

const ofRuns = {
  model: true,
  models: true,
  store: true,
  source: true,
  reward: true,
  credit: true,
  optimize: true,
  gate: true,
  release: true,
  method: true,
  agreement: true,
  declares: true,
  seed: true,
  deterministic: true,
  resume: true,
  mayWrite: true,
  onEvent: true,
  signal: true,
  clock: true,
  config: true,
} satisfies Record<keyof RunOptions, true>

/** The options of a run over each source. */
export const knownOptions = {
  rollouts: {
    ...ofRuns,
    prime: true,
    guide: true,
    baselines: true,
    budget: true,
    successThreshold: true,
    callSeconds: true,
    schedule: true,
    control: true,
    check: true,
  } satisfies Record<keyof RolloutOptions, true>,
  traffic: {
    ...ofRuns,
    supervised: true,
    preference: true,
    schedule: true,
    weighed: true,
    calibrate: true,
  } satisfies Record<keyof TrafficOptions, true>,
}

/** What a run over rollouts may be told of one episode: the keys of `budget`. */
export const knownBudget = {
  turns: true,
  tokensPerTurn: true,
  tokens: true,
  seconds: true,
  malformedCalls: true,
  toolErrors: true,
} satisfies Record<keyof EpisodeBudget, true>

/**
 * Programs in JavaScript have no compiler that tells a wrong name: what nobody reads would be left out in silence, and a
 * run would do other things than it was told.
 * @throws LearnError `learn/unknown-option`
 */
export function refuseUnknownOptions(options: LearnOptions): void {
  const { kind } = options.source
  const unknown = Object.keys(options).filter((name) => !Object.hasOwn(knownOptions[kind], name))
  if (unknown.length === 0) return
  const [one] = unknown
  throw new LearnError({
    code: 'learn/unknown-option',
    message: `learn over ${kind} has no option ${unknown.map((name) => `"${name}"`).join(', ')}.`,
    hint:
      one === 'mode'
        ? 'Say `release: shadow()`, `canary(…)` or `direct()`.'
        : `Take it out, or write it as one of: ${Object.keys(knownOptions[kind]).join(', ')}.`,
  })
}
