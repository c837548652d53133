import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rng } from '../../../core/index.ts'
import {
  BehaviourEncoder,
  type BehaviourExample,
  type BehaviourWindow,
  embedBehaviour,
  fitBehaviourEmbedding,
} from './index.ts'
import { toldApart } from './told-apart.ts'

const fast = { features: 'steps', epochs: 60, learningRate: 0.03 }
const encoder: BehaviourEncoder = {
  kind: 'behaviour-embedding',
  version: 1,
  features: 'steps',
  middle: [1, 0],
  scale: [2, 1],
  hidden: null,
  weights: [
    [3, 0, 0],
    [0, 4, 0],
  ],
}

/** What is liked depends on the sign of what was shown; how, on the partner. Neither number alone tells anything. */
function world(noise: number, seed = 0, partners = 40): BehaviourExample[] {
  const random = rng('behaviour-world', seed)
  const sign = () => (random.next() < 0.5 ? -1 : 1)
  return Array.from({ length: partners }, (_, i) => {
    const taste = i % 2 ? 1 : -1
    const step = () => {
      const shown = sign()
      return [shown, random.next() < noise ? sign() : taste * shown]
    }
    return Array.from({ length: 3 }, () => ({ partner: `p${i}`, window: Array.from({ length: 8 }, step) }))
  }).flat()
}

describe('the vector of a window', () => {
  it('is the mean step, standardised and weighed, of length 1: worked by hand', () => {
    // Mean step [3, 1] → [1, 1] in standard deviations → [3, 4] → [0.6, 0.8].
    const window = [
      [2, 0],
      [4, 2],
    ]
    expect(embedBehaviour(encoder, window)).toEqual([0.6, 0.8])
    expect(
      embedBehaviour(
        {
          ...encoder,
          hidden: [[1, 0, 0.5]],
          weights: [
            [1, 0],
            [0, 0],
          ],
        },
        [[1, 0]],
      ),
    ).toEqual([1, 0])
  })

  it('is 0 where nothing was seen, or where nothing points anywhere', () => {
    expect(embedBehaviour(encoder, [])).toEqual([0, 0])
    expect(embedBehaviour(encoder, [[1, 0]])).toEqual([0, 0])
  })

  it('has the length 1, whatever the order and however often steps come', () => {
    const step = fc.tuple(fc.double({ min: -5, max: 5, noNaN: true }), fc.double({ min: -5, max: 5, noNaN: true }))
    const two = fitted(world(0.2))
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), fc.nat(), (window, seed) => {
        const vector = embedBehaviour(two, window)
        expect(Math.hypot(...vector)).toBeCloseTo(1, 9)
        for (const same of [rng('order', seed).shuffle(window), [...window, ...window]])
          for (const [k, one] of embedBehaviour(two, same).entries()) expect(one).toBeCloseTo(vector[k] ?? 0, 6)
      }),
      { numRuns: 50 },
    )
  })

  it('is refused for steps that the encoder does not read', () => {
    for (const window of [[[1]], [[1, 2, 3]], [[1, Number.NaN]], [[0, 0], []]])
      expect(() => embedBehaviour(encoder, window)).toThrow(expect.objectContaining({ code: 'choice/bad-window' }))
  })
})

describe('an encoder that is kept', () => {
  it('comes back as it was, and not where its parts do not fit', () => {
    const found = fitted(world(0.2))
    expect(BehaviourEncoder.parse(JSON.parse(JSON.stringify(found)))).toEqual(found)
    for (const broken of [
      { scale: [1] },
      { hidden: [[1]] },
      {
        weights: [
          [1, 2],
          [1, 2],
        ],
      },
      { version: 2 },
    ])
      expect(BehaviourEncoder.safeParse({ ...encoder, ...broken }).success).toBe(false)
  })
})

function fitted(examples: readonly BehaviourExample[], options = {}): BehaviourEncoder {
  const found = fitBehaviourEmbedding(examples, { ...fast, ...options })
  if (found.status !== 'fitted') throw new Error(found.reason)
  return found.encoder
}

describe('what is fitted', () => {
  it('knows like partners that it never saw, by what the mean of their steps does not tell', () => {
    const found = fitBehaviourEmbedding(world(0.2), fast)
    // Half of the others are of the same taste, which nothing tells apart: ¾ is the most.
    expect(found).toMatchObject({ status: 'fitted', evidence: { partners: 40, windows: 120, leftOut: 0 } })
    expect(found.evidence?.toldApart).toBeGreaterThan(0.68)
    expect(found.evidence?.rawToldApart).toBeLessThan(0.62)
    if (found.status !== 'fitted') return
    const vector = (i: number) => embedBehaviour(found.encoder, fresh[i] ?? [])
    const fresh: readonly BehaviourWindow[] = world(0.2, 1, 4)
      .filter((_, i) => i % 3 === 0)
      .map(({ window }) => window)
    const alike = (i: number, j: number) => vector(i).reduce((sum, x, k) => sum + x * (vector(j)[k] ?? 0), 0)
    expect(alike(0, 2)).toBeGreaterThan(alike(0, 1))
    expect(alike(1, 3)).toBeGreaterThan(alike(1, 2))
  })

  it('is the same in whatever order windows and partners come, and another by another seed', () => {
    const examples = world(0.2)
    const once = fitted(examples)
    expect(fitted(rng('turned').shuffle(examples))).toEqual(once)
    expect(fitted(examples, { seed: 1 })).not.toEqual(once)
  })

  it('leaves out partners with one window', () => {
    const alone = { partner: 'alone', window: [[1, 1]] }
    const found = fitBehaviourEmbedding([...world(0.2), alone], fast)
    expect(found.evidence).toMatchObject({ partners: 40, windows: 120, leftOut: 1 })
  })
})

describe('what is refused', () => {
  it('is noise, as often as alpha says', () => {
    const taken = Array.from({ length: 20 }, (_, seed) => fitBehaviourEmbedding(world(1, seed), { ...fast, epochs: 5 }))
    // More than 4 of 20 at 5 % each: a chance of 0.3 %.
    expect(taken.filter(({ status }) => status === 'fitted').length).toBeLessThanOrEqual(4)
    expect(taken.find(({ status }) => status === 'refused')).toMatchObject({
      reason: expect.stringContaining('held-out'),
    })
  })

  it('are too few partners', () => {
    expect(fitBehaviourEmbedding(world(0, 0, 19), fast)).toMatchObject({ status: 'refused', evidence: null })
    expect(fitBehaviourEmbedding([], fast)).toMatchObject({ status: 'refused', evidence: null })
  })

  it('are windows and options that cannot be', () => {
    const good = world(0.2)
    for (const window of [
      [],
      [[]],
      [[1]],
      [
        [1, 2],
        [1, Number.POSITIVE_INFINITY],
      ],
    ])
      expect(() => fitBehaviourEmbedding([...good, { partner: 'p', window }], fast)).toThrow(
        expect.objectContaining({ code: 'choice/bad-window' }),
      )
    for (const wrong of [{ dimensions: 1 }, { hidden: 65 }, { temperature: 0 }, { leastPartners: 4 }, { unknown: 1 }])
      expect(() => fitBehaviourEmbedding(good, { ...fast, ...wrong })).toThrow(
        expect.objectContaining({ code: 'input/invalid' }),
      )
  })
})

describe('told apart', () => {
  const unit = (turn: number) => [Math.cos(turn), Math.sin(turn)]
  const first = [0, 1, 2, 3].map(unit)

  it('is always where each is most like its own, never where least, and half where all are alike: by hand', () => {
    const parts = (second: readonly (readonly number[])[]) => [{ first, second }]
    expect(toldApart(parts(first), rng('p'))).toMatchObject({ share: 1 })
    expect(toldApart(parts(first.map((one) => one.map((x) => -x))), rng('p'))).toMatchObject({ share: 0, p: 1 })
    expect(toldApart(parts(first.map(() => [1, 0])), rng('p'))).toEqual({ share: 0.5, p: 1 })
  })

  it('has the chance of the one match among all that is as good', () => {
    // One of the 4! matches of four partners is perfect: 1/24, drawn 999 times.
    expect(toldApart([{ first, second: first }], rng('p')).p).toBeCloseTo(1 / 24, 1)
  })
})
