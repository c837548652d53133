import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ReaderChanges, readerTasks, runReader } from '../../../../test/support/reader.ts'
import { wordEnvironment } from '../../../../test/support/word-environment.ts'
import type { Datum, ModelService, Store, Trainer, WeightsLesson } from '../../../core/index.ts'
import { anchor, imitate, policyGradient, rehearse, sequence } from '../../../optimize/weights/index.ts'
import { openMemoryStore } from '../../../store/index.ts'
import { rollouts } from '../../source.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const schedule = { updates: 2, imitation: 32 }
const first = () => runReader(store, { schedule, model: { practice: () => 2 } })
// Much fails still, so that much is imitated.
const second = (changes: ReaderChanges) => runReader(store, { schedule, model: { practice: () => 0 }, ...changes })
const optimize = (...lessons: WeightsLesson[]) => ({
  model: sequence(policyGradient(), imitate(), ...lessons),
})

describe('what earlier runs over rollouts succeeded at', () => {
  it('is rehearsed beside what is imitated, in its share', async () => {
    await first()
    const { of } = await second({ optimize: optimize(rehearse({ share: 0.5 })) })
    const updates = of('updated').map(({ metrics }) => metrics)
    expect(updates.map(({ rehearsed = 0 }) => rehearsed)).toEqual(updates.map(({ imitated = 0 }) => imitated))
    expect(updates[0]?.rehearsed).toBeGreaterThan(0)
  })

  it('is nothing in the first run, and nothing where no sequence asks for it', async () => {
    const asked = await runReader(store, { schedule, optimize: optimize(rehearse()) })
    const unasked = await second({})
    for (const { of } of [asked, unasked]) {
      for (const { metrics } of of('updated')) expect(metrics).not.toHaveProperty('rehearsed')
    }
  })

  it('leaves out what validates or is held out now', async () => {
    await first()
    // All that was trained on judges now, and the other way round.
    const turned = readerTasks.map((task) => {
      const split =
        task.split === 'train' ? ('holdout' as const) : task.split === 'holdout' ? ('train' as const) : task.split
      return { ...task, split }
    })
    const { of } = await second({ optimize: optimize(rehearse()), source: rollouts(wordEnvironment, turned) })
    for (const { metrics } of of('updated')) expect(metrics).not.toHaveProperty('rehearsed')
  })

  it('says what the weights hold on to, before anything moves them', async () => {
    await first()
    const calls: string[] = []
    const { of } = await second({
      optimize: optimize(anchor({ strength: 10, sequences: 3 })),
      service: (practised) => anchoringService(practised, calls),
    })
    expect(of('anchored')).toMatchObject([{ sequences: 3, strength: 10 }])
    expect(calls.slice(0, 3)).toEqual(['importance of 3', 'hold 1 by 10', 'step'])
  })

  it('needs a trainer that has anchors', async () => {
    await expect(second({ optimize: optimize(anchor({ strength: 10 })) })).rejects.toMatchObject({
      code: 'learn/trainer-lacks',
      message: expect.stringContaining('anchors, for anchor()'),
    })
  })
})

/** A service whose trainers have anchors, and tell what is done in which order. */
const anchoringService = (practised: ModelService, calls: string[]): ModelService => ({
  ...practised,
  trainer: async (...given) => {
    const trainer = await practised.trainer(...given)
    const own: Partial<Trainer> = {
      forward: (...args) => trainer.forward(...args),
      forwardBackward: (...args) => trainer.forwardBackward(...args),
      loadState: (...args) => trainer.loadState(...args),
      loadWeights: (...args) => trainer.loadWeights(...args),
      optimStep: (...args) => {
        calls.push('step')
        return trainer.optimStep(...args)
      },
      anchoring: {
        importance: async (data: readonly Datum[]) => {
          calls.push(`importance of ${data.length}`)
          return new Uint8Array(1)
        },
        hold: async (anchors, strength) => {
          calls.push(`hold ${anchors.length} by ${strength}`)
        },
      },
    }
    return Object.assign(Object.create(trainer) as Trainer, own)
  },
})
