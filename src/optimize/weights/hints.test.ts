import { describe, expect, it } from 'vitest'
import { recordingTrainer } from '../../../test/support/recording-trainer.ts'
import { policySample, weightsStep } from '../../../test/support/weights-step.ts'
import type { Datum } from '../../core/index.ts'
import { distil, type DistilOptions } from './distil.ts'
import { stripHint } from './hints.ts'

describe('a hint is taken out of what was read', () => {
  const sample = policySample([1, 8, 9, 2, -3, 4, -5])

  it('and what was sampled stays, with the probabilities that it had', () => {
    expect(stripHint(sample, { hinted: [1, 8, 9, 2], plain: [1, 2] })).toEqual({
      ...policySample([1, 2, -3, 4, -5]),
      stripped: true,
    })
  })

  it('an opening may become longer', () => {
    expect(stripHint(sample, { hinted: [1, 8], plain: [6, 6, 6] }).tokens).toEqual([6, 6, 6, 9, 2, 3, 4, 5])
  })

  it.each([
    ['another opening', [1, 7]],
    ['an opening that the policy went on from', [1, 8, 9, 2, 3]],
    ['an opening longer than the sample', [1, 8, 9, 2, 3, 4, 5, 6]],
  ])('not from %s', (_, hinted) => {
    expect(() => stripHint(sample, { hinted, plain: [1] })).toThrow(
      expect.objectContaining({ code: 'optimize/other-opening' }),
    )
  })
})

describe('on-policy distillation', () => {
  /** Thinks of each target what its token says, in hundredths of a nat, and keeps what it was asked. */
  function thinking() {
    const asked: (readonly Datum[])[] = []
    const forward = async (data: readonly Datum[]) => {
      asked.push(data)
      return data.map(({ target }) => target.map((token) => -token / 100))
    }
    return { teacher: { forward }, asked }
  }
  async function advantages(options: Partial<DistilOptions> = {}, sample = policySample([1, -30, 2, -250])) {
    const { trainer, passes } = recordingTrainer()
    const { metrics } = await distil({ teacher: thinking().teacher, ...options }).step(weightsStep([sample], trainer))
    return { metrics, given: passes[0]?.data[0]?.advantages, loss: passes[0]?.loss.kind }
  }

  it('praises a token that the teacher finds likelier than it was, and blames the others', async () => {
    // −0.3 − −1 and −2.5 − −1, over two tokens.
    const { given, loss } = await advantages()
    expect(given).toEqual([expect.closeTo(0.35, 12), 0, expect.closeTo(-0.75, 12)])
    expect(loss).toBe('importance_sampling')
    expect((await advantages({ loss: 'cispo' })).loss).toBe('cispo')
  })

  it('by no more than it is said, and whatever was earned', async () => {
    expect((await advantages({ most: 0.5 })).given).toEqual([0.25, 0, -0.25])
    const failed = policySample([1, -30, 2, -250], -1, -7)
    expect((await advantages({}, failed)).given).toEqual((await advantages()).given)
    expect(() => distil({ teacher: thinking().teacher, most: 0 })).toThrow('most is 0')
  })

  it('lets the teacher read a hint, and the policy learn without it', async () => {
    const { teacher, asked } = thinking()
    const { trainer, passes } = recordingTrainer()
    const hint = () => ({ plain: [1], hinted: [7, 7, 1] })
    await distil({ teacher, hint }).step(weightsStep([policySample([1, -30, 2, -250])], trainer))
    expect(asked[0]?.[0]?.input).toEqual([7, 7, 1, 30, 2])
    expect(passes[0]?.data[0]).toMatchObject({
      input: [1, 30, 2],
      advantages: [expect.closeTo(0.35, 12), 0, expect.closeTo(-0.75, 12)],
    })
  })

  it('asks nobody without samples', async () => {
    const { teacher, asked } = thinking()
    await distil({ teacher }).step(weightsStep([], recordingTrainer().trainer))
    expect(asked).toEqual([])
  })
})
