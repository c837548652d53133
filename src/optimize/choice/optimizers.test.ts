import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../agent/choice/choice.vectors.json' with { type: 'json' }
import { chancesOf, choice, type ChoiceDeposit, type ChoiceOptions, ChoiceValue } from '../../agent/index.ts'
import { ParameterName, rng, type Seat, VersionId } from '../../core/index.ts'
import { linUcb } from './lin-ucb.ts'
import { reinforce, reinforced } from './reinforce.ts'
import { sharpened } from './sharpen.ts'
import { thompson } from './thompson.ts'

const valueOf = (options: ChoiceOptions): ChoiceValue => ChoiceValue.parse(choice(options).initial(() => ''))
const two = valueOf({ options: ['small', 'large'], explore: 0 })

/** What a choice of `value` deposits. */
function depositOf(value: ChoiceValue, chosen: number, change: Partial<ChoiceDeposit> = {}): ChoiceDeposit {
  const { features = [] } = change
  const option = value.options[chosen]?.name ?? ''
  const cost = value.options[chosen]?.cost ?? 0
  const { chances } = chancesOf(value, features)
  const made = { key: '', option, chosen, chances: [...chances], features, cost, barred: [], failed: null }
  return { ...made, advantage: null, earned: null, charged: cost, ...change }
}

const seatOf = (value: ChoiceValue, practises = true): Seat<ChoiceValue> => ({
  parameter: ParameterName.parse('route'),
  version: VersionId.parse('a'.repeat(64)),
  value,
  rng: (...key) => rng('seat', ...key),
  evaluate: practises ? () => Promise.resolve([]) : null,
})

describe('what is believed after a batch', () => {
  it('is α + q and β + 1 − q, with the cost given back and the range taken off', () => {
    const value = { ...valueOf({ options: ['a', { name: 'b', cost: 0.5 }], range: [-1, 3] }) }
    const { value: after, clamped } = sharpened(value, [
      depositOf(value, 0, { earned: 1 }),
      depositOf(value, 1, { earned: 1.5 }),
      depositOf(value, 1, { earned: 9 }),
      depositOf(value, 1, { earned: null, advantage: 5 }),
    ])
    expect(after.options.map(({ quality }) => quality)).toEqual([
      { alpha: 1.5, beta: 1.5 },
      { alpha: 1 + 0.75 + 1, beta: 1 + 0.25 },
    ])
    expect(clamped).toBe(1)
  })

  it('gives back what all choices of an episode cost together, and nothing that the rubric did not take', () => {
    const value = valueOf({ options: ['a', { name: 'b', cost: 0.3 }] })
    const qualityOf = (deposit: ChoiceDeposit) => sharpened(value, [deposit]).value.options[1]?.quality
    // A success that chose b at three turns.
    expect(qualityOf(depositOf(value, 1, { earned: 0.1, charged: 0.9 }))).toEqual({ alpha: 2, beta: 1 })
    expect(qualityOf(depositOf(value, 1, { earned: 0.5, charged: 0 }))).toEqual({ alpha: 1.5, beta: 1.5 })
  })

  it('is the same in whatever order it came, and in however many batches', () => {
    const deposit = fc.record({
      chosen: fc.integer({ min: 0, max: 1 }),
      earned: fc.double({ min: 0, max: 1, noNaN: true }),
      x: fc.double({ min: -1, max: 1, noNaN: true }),
    })
    const value = valueOf({ options: ['a', 'b'], features: 1 })
    fc.assert(
      fc.property(fc.array(deposit, { maxLength: 8 }), fc.nat(8), (given, cut) => {
        const all = given.map(({ chosen, earned, x }) => depositOf(value, chosen, { earned, features: [x] }))
        const once = sharpened(value, all).value
        const parts = sharpened(sharpened(value, all.slice(0, cut)).value, all.slice(cut)).value
        const turned = sharpened(value, all.toReversed()).value
        for (const [i, { quality }] of once.options.entries()) {
          if (!('moments' in quality)) throw new Error('no regression')
          for (const other of [parts, turned]) {
            const found = other.options[i]?.quality
            if (!found || !('moments' in found)) throw new Error('no regression')
            for (const [j, moment] of quality.moments.entries()) expect(found.moments[j]).toBeCloseTo(moment, 9)
            for (const [j, row] of quality.precision.entries())
              for (const [k, entry] of row.entries()) expect(found.precision[j]?.[k]).toBeCloseTo(entry, 9)
          }
        }
      }),
    )
  })
})

describe('linUcb', () => {
  it('takes the arms that the printed algorithm takes, one after the other (numpy)', async () => {
    const { width, noise, rounds } = vectors.linUcb
    const value = valueOf({ options: ['a', 'b', 'c'], features: 2, noise, explore: 0 })
    const learning = await linUcb({ width }).open(seatOf(value), null)
    for (const [update, { features, arm, reward }] of rounds.entries()) {
      const acting = await learning.bound()
      const { chances } = chancesOf(acting, features)
      expect(chances.indexOf(1), `round ${update}`).toBe(arm)
      await learning.step([depositOf(acting, arm, { features, earned: reward })], update)
    }
  })
})

describe('thompson', () => {
  it('comes to what brings more, from groups whose attempts all earn the same', async () => {
    const learning = await thompson().open(seatOf(two), null)
    const chance = rng('arms')
    for (let update = 0; update < 20; update++) {
      const acting = await learning.bound()
      const deposits = Array.from({ length: 8 }, () => {
        const chosen = chance.next() < (chancesOf(acting, []).chances[0] ?? 0) ? 0 : 1
        return depositOf(acting, chosen, { earned: chance.next() < (chosen === 0 ? 0.3 : 0.7) ? 1 : 0 })
      })
      await learning.step(deposits, update)
    }
    const learned = await learning.propose()
    expect(learned && chancesOf(learned, []).chances[1]).toBeGreaterThan(0.95)
  })
})

describe('reinforce', () => {
  const options = { learningRate: 1, mostWeight: 2 }
  const weightsOf = (value: ChoiceValue) => (value.policy.by === 'softmax' ? value.policy.weights : [])
  const after = (value: ChoiceValue, deposits: readonly ChoiceDeposit[]) => ({
    ...value,
    policy: reinforced(value, deposits, options),
  })

  it('moves scores by the advantage times what was not expected, worked by hand', () => {
    // p = [½, ½]; small with A = 1 pushes [½, −½], large with A = −0.5 pushes −0.5·[−½, ½]; their mean is [⅜, −⅜].
    const deposits = [depositOf(two, 0, { advantage: 1 }), depositOf(two, 1, { advantage: -0.5 })]
    expect(weightsOf(after(two, deposits))).toEqual([[0.375], [-0.375]])
    expect(weightsOf(after(two, [...deposits, depositOf(two, 0, { earned: 1 })]))).toEqual([[0.375], [-0.375]])
  })

  it('counts what is likelier now than when it was made by as much, up to its bound', () => {
    const stale = (then: number) => [depositOf(two, 0, { advantage: 1, chances: [then, 1 - then] })]
    expect(weightsOf(after(two, stale(0.8)))[0]?.[0]).toBeCloseTo((0.5 / 0.8) * 0.5, 12)
    expect(weightsOf(after(two, stale(0.1)))[0]?.[0]).toBeCloseTo(2 * 0.5, 12)
  })

  it.each([0, 3])(
    'follows the gradient of the log chance, by finite differences, with %i hidden units',
    async (hidden) => {
      const declared = valueOf({ options: ['a', 'b', 'c'], features: 2, explore: 0.3 })
      const learning = await reinforce({ hidden }).open(seatOf(declared), null)
      const random = rng('weights')
      const shaken = (rows: readonly (readonly number[])[]) => rows.map((row) => row.map(() => 2 * random.next() - 1))
      const { policy: begun, ...rest } = await learning.bound()
      if (begun.by !== 'softmax') throw new Error('no softmax')
      const policy = { ...begun, weights: shaken(begun.weights), hidden: begun.hidden && shaken(begun.hidden) }
      const value = { ...rest, policy }
      const features = [0.4, -0.9]
      const moved = reinforced(value, [depositOf(value, 1, { features, advantage: 1 })], options)
      if (moved.by !== 'softmax') throw new Error('no softmax')
      const logChance = (changed: typeof policy) =>
        Math.log(chancesOf({ ...value, policy: changed }, features).chances[1] ?? 0)
      const h = 1e-6
      for (const part of ['weights', 'hidden'] as const) {
        for (const [k, row] of policy[part]?.entries() ?? []) {
          for (const [i, entry] of row.entries()) {
            const at = (by: number) => {
              const rows = (policy[part] ?? []).map((one) => [...one])
              rows[k]?.splice(i, 1, entry + by)
              return logChance({ ...policy, [part]: rows })
            }
            expect((moved[part]?.[k]?.[i] ?? 0) - entry).toBeCloseTo((at(h) - at(-h)) / (2 * h), 6)
          }
        }
      }
    },
  )

  it('is moved by no baseline in expectation: chance by chance, the same for every option cancels', () => {
    const scores = fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: 2, maxLength: 5 })
    fc.assert(
      fc.property(
        scores,
        fc.double({ min: -9, max: 9, noNaN: true }),
        fc.double({ min: 0, max: 0.9, noNaN: true }),
        (given, baseline, explore) => {
          const names = given.map((_, i) => `o${i}`)
          const policy = { by: 'softmax', hidden: null, weights: given.map((score) => [score]) } as const
          const value = { ...valueOf({ options: names, explore }), policy }
          const { chances } = chancesOf(value, [])
          const pushed = given.map(() => 0)
          for (const [a, chance] of chances.entries()) {
            const moved = weightsOf(after(value, [depositOf(value, a, { advantage: baseline })]))
            for (const [k, row] of moved.entries())
              pushed[k] = (pushed[k] ?? 0) + chance * ((row[0] ?? 0) - (given[k] ?? 0))
          }
          for (const push of pushed) expect(push).toBeCloseTo(0, 9)
        },
      ),
    )
  })

  it('is permuted with its options', () => {
    const advantages = fc.array(fc.double({ min: -2, max: 2, noNaN: true }), { minLength: 3, maxLength: 3 })
    const three = valueOf({ options: ['a', 'b', 'c'] })
    fc.assert(
      fc.property(advantages, (given) => {
        const moved = weightsOf(
          after(
            three,
            given.map((advantage, i) => depositOf(three, i, { advantage })),
          ),
        )
        const turned = given.map((advantage, i) => depositOf(three, 2 - i, { advantage }))
        const back = weightsOf(after(three, turned)).toReversed()
        for (const [i, row] of moved.entries()) expect(row[0]).toBeCloseTo(back[i]?.[0] ?? 0, 9)
      }),
    )
  })

  it('learns what depends on a combination of features with a hidden layer, as it cannot without', async () => {
    const corners = [
      [1, 1],
      [1, -1],
      [-1, 1],
      [-1, -1],
    ] as const
    const surest = async (hidden: number) => {
      const value = valueOf({ options: ['same', 'other'], features: 2 })
      const learning = await reinforce({ hidden, learningRate: 3 }).open(seatOf(value), null)
      for (let update = 0; update < 300; update++) {
        const acting = await learning.bound()
        const deposits = corners.flatMap((features) =>
          [0, 1].map((chosen) => {
            const right = (features[0] === features[1] ? 0 : 1) === chosen
            return depositOf(acting, chosen, { features: [...features], advantage: right ? 0.5 : -0.5 })
          }),
        )
        await learning.step(deposits, update)
      }
      const learned = await learning.bound()
      return Math.min(
        ...corners.map((features) => chancesOf(learned, features).chances[features[0] === features[1] ? 0 : 1] ?? 0),
      )
    }
    expect(await surest(8)).toBeGreaterThan(0.9)
    expect(await surest(0)).toBeLessThan(0.6)
  })

  it.each([{ learningRate: 0 }, { hidden: -1 }, { epochs: 0 }, { mostWeight: 0.5 }, { rate: 1 }])(
    'refuses %j',
    (given) => {
      expect(() => reinforce(given as never)).toThrow(expect.objectContaining({ code: 'input/invalid' }))
    },
  )
})

describe('a session', () => {
  const careful = valueOf({
    options: [{ name: 'large', safe: true }, 'small'],
    floor: { quality: 0.8 },
  })
  const openly = { ...careful, floor: null }

  it.each([thompson(), linUcb(), reinforce()])(
    '$name tries in practice what production may not, and proposes it with its floor',
    async (optimizer) => {
      const practice = await optimizer.open(seatOf(careful), null)
      expect((await practice.bound()).floor).toBeNull()
      const production = await optimizer.open(seatOf(careful, false), null)
      expect((await production.bound()).floor).toEqual(careful.floor)
      expect(chancesOf(await production.bound(), []).chances[1]).toBe(0)
      expect(await practice.propose()).toBeNull()
      const deposits = Array.from({ length: 60 }, () => depositOf(openly, 1, { earned: 1, advantage: 0.5 }))
      await practice.step(deposits, 0)
      const proposed = await practice.propose()
      expect(proposed?.floor).toEqual(careful.floor)
      expect(proposed && chancesOf(proposed, []).chances[1]).toBeGreaterThan(0)
    },
  )

  it.each([thompson(), linUcb(), reinforce({ hidden: 4 })])(
    '$name goes on from what it saved as if it had never ended',
    async (optimizer) => {
      const value = valueOf({ options: ['a', 'b'], features: 1 })
      const batch = (acting: ChoiceValue, update: number) =>
        [0, 1].map((chosen) =>
          depositOf(acting, chosen, { features: [update / 3], advantage: chosen - 0.5, earned: chosen }),
        )
      const whole = await optimizer.open(seatOf(value), null)
      for (let update = 0; update < 4; update++) await whole.step(batch(await whole.bound(), update), update)
      let saved = null
      for (let update = 0; update < 4; update++) {
        const part = await optimizer.open(seatOf(value), saved)
        await part.step(batch(await part.bound(), update), update)
        saved = JSON.parse(JSON.stringify(await part.save()))
      }
      const resumed = await optimizer.open(seatOf(value), saved)
      expect(await resumed.propose()).toEqual(await whole.propose())
    },
  )

  it('counts choices that were not made by the policy, and learns nothing from them', async () => {
    const learning = await thompson().open(seatOf(two), null)
    const failed = depositOf(two, 0, { failed: 'bad-features', earned: 1 })
    expect(await learning.step([failed, failed], 0)).toEqual({ 'failed.bad-features': 2 })
    expect(await learning.propose()).toBeNull()
    expect(await learning.step([failed, depositOf(two, 1, { earned: 0 })], 1)).toEqual({
      'failed.bad-features': 1,
      'took.small': 0,
      'took.large': 1,
    })
    expect((await learning.propose())?.options[0]?.quality).toEqual({ alpha: 1, beta: 1 })
  })
})
