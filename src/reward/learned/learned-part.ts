import { contentHash, type StepJudge, type StepLabel } from '../../core/index.ts'
import { RewardError } from '../errors.ts'
import type { RewardPart } from '../part.ts'
import type { Features } from './features.ts'
import { acceptance, type RewardModel } from './reward-model.ts'

/**
 * A part that says how likely people accept the episode: in [0, 1] times its weight; `null` where the policy said nothing.
 * @throws RewardError for features of another name than the model was trained on.
 */
export function learnedReward(model: RewardModel, features: Features, weight = 1): RewardPart {
  checkSame(model, features)
  return {
    identity: `learned:${contentHash({ model, weight })}`,
    async score(trajectory) {
      const read = await features.of(trajectory, null)
      return read === null ? null : weight * acceptance(model, read)
    },
  }
}

/**
 * A step scorer from a model that was trained on labels of steps: good where it expects acceptance with at least `sure`,
 * bad where it expects rejection so, and `null` between.
 * @param sure in [0.5, 1].
 * @throws RewardError for features of another name than the model was trained on.
 */
export function learnedStepJudge(model: RewardModel, features: Features, sure = 0.6): StepJudge {
  checkSame(model, features)
  const labelOf = (p: number): StepLabel | null => (p >= sure ? 'good' : p <= 1 - sure ? 'bad' : null)
  return {
    name: `learned:${contentHash({ model, sure })}`,
    async label(trajectory) {
      const labels: (StepLabel | null)[] = []
      for (const { action } of trajectory.steps) {
        const read = await features.of(trajectory, action)
        labels.push(read === null ? null : labelOf(acceptance(model, read)))
      }
      return labels
    },
  }
}

function checkSame(model: RewardModel, features: Features): void {
  if (model.features === features.name) return
  throw new RewardError({
    code: 'reward/other-features',
    message: `The reward model was trained on the features "${model.features}", and these are "${features.name}".`,
    hint: 'Give it the features that it was trained on, or train it again on these.',
  })
}
