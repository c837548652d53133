import { describe, expect, it } from 'vitest'
import { recordingTrainer } from '../../../test/support/recording-trainer.ts'
import { policySample, weightsStep } from '../../../test/support/weights-step.ts'
import type { PolicySample } from '../../core/index.ts'
import { ppo } from './losses/ppo.ts'
import { policyGradient } from './policy-gradient.ts'
import type { PolicyGradientOptions } from './policy-options.ts'
import { stripExperience, withoutRecalled } from './strip-experience.ts'

/** 8 and 9 were recalled; 3 and 5 were said, with a probability of 1/15 each, where the trainer says 1/10. */
const read = (ratio = 1.5, advantage = 1): PolicySample => ({
  ...policySample([1, 8, 9, 2, -3, 4, -5], -Math.log(10 * ratio), advantage),
  recalled: [false, true, true, false, false, false, false],
})
const alone = policySample([1, 2, -6], -Math.log(10), -1)

async function stepped(samples: readonly PolicySample[], options: PolicyGradientOptions = {}) {
  const { trainer, passes } = recordingTrainer()
  const { metrics } = await stripExperience(policyGradient(options)).step(weightsStep(samples, trainer))
  return { metrics, passes }
}

describe('what was recalled is taken out of what was read', () => {
  it('and what was said stays, with the probabilities that it had', () => {
    expect(withoutRecalled(read())).toEqual({
      ...policySample([1, 2, -3, 4, -5], -Math.log(15)),
      stripped: true,
    })
  })

  it('and a sample of which nothing was recalled is the same', () => {
    expect(withoutRecalled(alone)).toBe(alone)
    const none = { ...alone, recalled: alone.tokens.map(() => false) }
    expect(withoutRecalled(none)).toBe(none)
  })
})

describe('weights learn from it', () => {
  it('without what was recalled, beside attempts that recalled nothing, and tell how much was taken out', async () => {
    const { metrics, passes } = await stepped([read(), alone], { loss: 'cispo' })
    expect(passes[0]?.data.map(({ input }) => input)).toEqual([[1, 2]])
    expect(metrics).toMatchObject({ samples: 2, strippedSamples: 1, strippedTokens: 2, tokens: 7 - 2 - 1 + 2 })
  })

  it('up to a bound of its own: 1.5 counts where 1.2 would have clipped it, and 1.7 does not', async () => {
    // Two tokens, each ρ·A / 2: −(1.5 + 1.5) / 2; clipped at 1.6: −1.6; of the default bound of others it would be −1.2.
    const terms = (ratio: number) => ({ logprobs: [Math.log(ratio)], oldLogprobs: [0], advantages: [1] })
    expect(ppo(terms(1.5), 0.8, 1.6)).toEqual({ loss: expect.closeTo(-1.5, 12), slopes: [expect.closeTo(-1.5, 12)] })
    expect(ppo(terms(1.7), 0.8, 1.6)).toEqual({ loss: expect.closeTo(-1.6, 12), slopes: [0] })
    expect(ppo(terms(1.5), 0.8, 1.2)).toEqual({ loss: expect.closeTo(-1.2, 12), slopes: [0] })
    const { passes, metrics } = await stepped([read(1.5)])
    expect(passes[0]?.loss).toEqual({ kind: 'ppo', clipLow: 0.8, clipHigh: 1.6, temperature: 1 })
    // The trainer's own loss is unclipped importance sampling: ρ·A / 2 twice.
    expect(metrics).toMatchObject({ loss: expect.closeTo(-1.5, 12), strippedClippedShare: 0 })
    expect((await stepped([read(1.7)])).metrics).toMatchObject({ strippedClippedShare: 1 })
    expect((await stepped([read(1.5)], { strippedClipHigh: 1.4 })).metrics).toMatchObject({ strippedClippedShare: 1 })
  })

  it('and says its name', () => {
    expect(stripExperience(policyGradient()).name).toBe('stripped-policy-gradient')
  })
})
