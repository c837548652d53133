import type { Saved } from '../../../core/index.ts'
import { InputError } from '../../../errors/index.ts'
import { demonstrationDatum } from '../../../optimize/weights/index.ts'
import { spread } from '../../preflight/index.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import type { Demonstrations } from './demonstrations.ts'
import { type AdapterScore, unusable } from './library.ts'
import type { KeptWeights, RolloutRun } from './rollout-run.ts'

/** Demonstrations by which adapters are compared, at most. */
const compared = 64

/**
 * Begins from the adapter of the library under which the demonstrations are likeliest, where that is likelier than what
 * serves; once in a run. A set of policies that were learned elsewhere, and a quick step from the best of them ("Learning
 * Meta Representations for Agents in Multi-Agent Reinforcement Learning"; there the set is learned as a whole, here it is
 * what was released).
 * @throws LearnError for an adapter that does not fit what is trained.
 */
export async function startFromLibrary(run: RolloutRun, taught: TrainedWeights<KeptWeights>): Promise<void> {
  const library = run.options.prime?.startFrom ?? []
  if (library.length === 0 || taught.at('start') !== null || taught.state.passes > 0) return
  const { trainer } = taught
  const given = spread(run.demonstrations.given, compared)
  await taught.keep('start')
  let best: { readonly score: AdapterScore; readonly saved: Saved | null } = {
    score: { name: null, logprob: await likelihood(trainer, given) },
    saved: await taught.kept('start'),
  }
  const scores = [best.score]
  for (const one of library) {
    const { name } = one
    run.options.signal?.throwIfAborted()
    const saved = await one.load()
    await fitted(name, () => trainer.loadWeights(saved))
    const score = { name, logprob: await likelihood(trainer, given) }
    scores.push(score)
    if (score.logprob > best.score.logprob) best = { score, saved }
  }
  if (best.saved !== null) await trainer.loadWeights(best.saved)
  // Saved anew: what another agent keeps is not this run's to let go of.
  if (best.score.name !== null) await taught.keep('start')
  run.emit({ type: 'began-from', ...taught.named, adapter: best.score.name, scores, demonstrations: given.length })
  await run.checkpoint()
}

async function fitted(name: string, load: () => Promise<void>): Promise<void> {
  try {
    await load()
  } catch (error) {
    if (error instanceof InputError) throw unusable(name, error.message, error)
    throw error
  }
}

/** Mean log-probability of a demonstrated token. */
async function likelihood(
  trainer: Pick<TrainedWeights['trainer'], 'forward'>,
  demonstrations: Demonstrations['given'],
): Promise<number> {
  const data = demonstrations.map((one) => demonstrationDatum(one, 1))
  const logprobs = await trainer.forward(data)
  const counted = data.flatMap(({ weights = [] }, i) =>
    weights.flatMap((weight, t) => (weight === 0 ? [] : [logprobs[i]?.[t] ?? Number.NaN])),
  )
  return counted.reduce((sum, one) => sum + one, 0) / Math.max(1, counted.length)
}
