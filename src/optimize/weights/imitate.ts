import type { Demonstration, Rng, WeightsImitation } from '../../core/index.ts'
import { type AuxiliaryTasks, usedAuxiliary } from './auxiliary.ts'
import { requireOption } from './errors.ts'
import { drawReplay } from './replay.ts'
import { supervisedPass, supervisedRate, type SupervisedOptions } from './supervised.ts'
import { onlyTurns, type Turns } from './turns.ts'

/** What is imitated, beside how. */
export interface ImitateOptions extends SupervisedOptions {
  /** Which of the demonstrated turns are learned. Default `all`. */
  readonly turns?: Turns
  /** What keeps the model able to do other things, beside the demonstrations. Default: nothing. */
  readonly general?: GeneralData
  /** Auxiliary tasks that are learned beside the loss, such as `protoValues()`. Default: none. */
  readonly auxiliary?: AuxiliaryTasks
}

/** Other things than the job, to be learned beside it. */
export interface GeneralData {
  /** Drawn anew in each pass, whole: {@link ImitateOptions.turns} does not cut them. */
  readonly demonstrations: readonly Demonstration[]
  /** The part of all sequences of a pass that they are, in [0, 1). AgentTuning takes 0.8. */
  readonly share: number
}

/**
 * Imitation, as a part of a {@link sequence}: supervised passes over demonstrations ({@link supervisedPass}). What is left
 * open is as the run's own options say: `prime.supervised` over rollouts, `supervised` over traffic.
 *
 * With `general` each pass is a mixture: (1 − share) of the job and `share` of other things (AgentTuning, Zeng et al. 2023,
 * equation 1), so that a model that learns to act stays able to talk.
 * @throws OptimizeError for a share outside of [0, 1), or of nothing.
 */
export function imitate(options: ImitateOptions = {}): WeightsImitation {
  const { turns = 'all', general, auxiliary: given, ...supervised } = options
  const auxiliary = usedAuxiliary(given)
  if (general) requireGeneral(general)
  return {
    name: 'imitation',
    kind: 'weights',
    losses: ['cross_entropy'],
    auxiliary: auxiliary !== null,
    imitate: ({ trainer, demonstrations, rng, pace = 1, defaults }) => {
      const settings = { learningRate: supervisedRate, ...defaults, ...supervised }
      const paced = { ...settings, learningRate: settings.learningRate * pace, ...(auxiliary && { auxiliary }) }
      const own = turns === 'all' ? demonstrations : demonstrations.map((one) => learnedIn(one, turns))
      return supervisedPass(trainer, general ? [...own, ...drawnFrom(general, own.length, rng)] : own, rng, paced)
    },
  }
}

const learnedIn = (one: Demonstration, turns: Turns): Demonstration => ({ ...one, learn: onlyTurns(one.learn, turns) })

const drawnFrom = ({ demonstrations, share }: GeneralData, fresh: number, rng: Rng): readonly Demonstration[] =>
  drawReplay({ fresh, earlier: demonstrations, share, rng })

function requireGeneral({ demonstrations, share }: GeneralData): void {
  requireOption(share >= 0 && share < 1, `The share of general data is ${share}`, 'Make it at least 0 and below 1')
  const there = share === 0 || demonstrations.length > 0
  requireOption(there, `General data is to be ${share} of all, and there is none`, 'Give some, or leave it out')
}
