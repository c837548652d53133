import { type Demonstration, type Metrics, rng } from '../../../core/index.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import type { RolloutRun } from './rollout-run.ts'
import { recipe } from './recipe.ts'
import { settledPace } from '../../steer/index.ts'

/** What is imitated is drawn anew so many times in an update: at first there is little to draw from. */
const passes = 4
/** Tokens that an update imitates while nothing succeeds, at most: of long episodes there are fewer, with more decisions each. */
const tokensAtMost = 32_768

/**
 * Imitates the policy's own successes, and the demonstrations, where something in the run imitates: the more, the less
 * succeeds. With the attempts before it this
 * is expert iteration (Anthony et al. 2017; for language models STaR, Zelikman et al. 2022).
 */
export async function imitate(run: RolloutRun, one: TrainedWeights): Promise<Metrics> {
  const { options, schedule, state } = run
  const { imitation } = one.plan
  if (!imitation) return {}
  const { seed = 0, prime } = options
  const overall = state.signs.at(-1)?.overall ?? 0
  const random = rng('imitate', seed, state.update, ...one.key)
  const defaults = { ...recipe.supervised, ...prime?.supervised }
  const pace = settledPace(overall, recipe.settling.imitation)
  const told = { imitated: 0, imitationLoss: 0, imitationTokens: 0 }
  let repeated = 0
  for (let pass = 0; pass < passes; pass++) {
    const sequences = await run.rehearsal.drawn(one, {
      successes: state.successes,
      count: Math.round((schedule.imitation * (1 - overall)) / passes),
      standing: state.standing,
      augmented: schedule.augmentation,
      random,
    })
    const taken = within(sequences, (tokensAtMost * (1 - overall)) / passes)
    const again = await rehearsed(run, one, { fresh: taken.length, pass })
    const { trainer } = one
    const step = { trainer, demonstrations: [...taken, ...again], rng: random, pace, defaults, update: state.update }
    const { tokens = 0, loss = 0 } = await imitation.imitate(step)
    told.imitated += tokens > 0 ? taken.length : 0
    repeated += again.length
    told.imitationLoss = loss
    told.imitationTokens += tokens
  }
  return repeated > 0 ? { ...told, rehearsed: repeated } : told
}

/** What earlier runs learned that is imitated again beside so many. */
async function rehearsed(
  run: RolloutRun,
  one: TrainedWeights,
  { fresh, pass }: { readonly fresh: number; readonly pass: number },
): Promise<readonly Demonstration[]> {
  const { rehearsal } = one.plan
  if (rehearsal === null || fresh === 0) return []
  const { state, options } = run
  const random = rng('replay', options.seed ?? 0, state.update, pass, ...one.key)
  return rehearsal.rehearse({ fresh, earlier: await run.earlier.of(one), rng: random })
}

/** The first sequences that together have no more tokens; at least one. */
function within(sequences: readonly Demonstration[], most: number): readonly Demonstration[] {
  let tokens = 0
  return sequences.filter((sequence, i) => (tokens += sequence.tokens.length) <= most || i === 0)
}
