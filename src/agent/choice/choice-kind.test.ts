import { describe, expect, it } from 'vitest'
import { trajectoryOf } from '../../../test/support/trajectories.ts'
import { type Propensity, rng, VersionId } from '../../core/index.ts'
import { chancesOf } from './chances.ts'
import { choiceKind, type MadeChoice } from './choice-kind.ts'
import { choice, type ChoiceOptions, optionCosts } from './choice.ts'
import { type ChoicePolicy, ChoiceValue } from './value.ts'

const valueOf = (options: ChoiceOptions): ChoiceValue => ChoiceValue.parse(choice(options).initial(() => ''))
const inForce = { version: VersionId.parse('a'.repeat(64)), generation: 1, checkpoint: null }

/** A handle in one episode, and what it recorded. */
function handleOf(value: ChoiceValue, seed = 0) {
  const decided: { made: MadeChoice; propensity: Propensity }[] = []
  const handle = choiceKind.handle(
    { kind: 'choice', inForce, value, rng: rng('test', seed) },
    { decide: (one) => void decided.push(one) },
    'route',
  )
  return { handle, decided }
}

const two = valueOf({ options: ['small', 'large'] })

describe('choose', () => {
  it('takes each option as often as it says, and records how likely it was', async () => {
    const policy: ChoicePolicy = { by: 'softmax', hidden: null, weights: [[Math.log(3)], [0]] }
    const value = { ...two, policy }
    const { chances } = chancesOf(value, [])
    let small = 0
    for (let seed = 0; seed < 2000; seed++) {
      const { handle, decided } = handleOf(value, seed)
      const option = await handle.choose()
      if (option === 'small') small++
      const chosen = option === 'small' ? 0 : 1
      expect(decided).toEqual([
        {
          made: { key: '', option, chosen, chances, features: [], cost: 0, barred: [], failed: null },
          propensity: { log: Math.log(chances[chosen] ?? 0) },
        },
      ])
    }
    // 0.95 · 0.75 + 0.025 = 0.7375, with a standard error of 0.0098.
    expect(Math.abs(small / 2000 - 0.7375)).toBeLessThan(0.04)
  })

  it('answers the same key alike for the rest of the episode, and records it once', async () => {
    const { handle, decided } = handleOf(two)
    const answers = await Promise.all(Array.from({ length: 20 }, () => handle.choose()))
    expect(new Set(answers).size).toBe(1)
    expect(decided).toHaveLength(1)
    const others = await Promise.all(Array.from({ length: 20 }, (_, i) => handle.choose([], { key: `turn-${i}` })))
    expect(new Set(others).size).toBe(2)
    expect(decided).toHaveLength(21)
  })

  it('repeats with its chance', async () => {
    const keys = Array.from({ length: 10 }, (_, i) => `${i}`)
    const sequence = async () => {
      const { handle } = handleOf(two, 5)
      return Promise.all(keys.map((key) => handle.choose([], { key })))
    }
    expect(await sequence()).toEqual(await sequence())
  })

  const careful = valueOf({ options: ['large', { name: 'small', safe: true, cost: 0.1 }], features: 1 })

  it.each([
    ['no features', []],
    ['too many', [1, 2]],
    ['what is no number', [Number.NaN]],
    ['what is not finite', [Number.POSITIVE_INFINITY]],
  ])('takes the first safe option where it is given %s, and says why', async (_, features) => {
    const { handle, decided } = handleOf(careful)
    expect(await handle.choose(features)).toBe('small')
    expect(decided).toEqual([
      {
        made: {
          key: '',
          option: 'small',
          chosen: 1,
          chances: [0, 1],
          features: [],
          cost: 0.1,
          barred: [],
          failed: 'bad-features',
        },
        propensity: { log: null, reason: 'deterministic' },
      },
    ])
  })

  it.each([
    [
      'scores beyond what numbers hold',
      {
        by: 'softmax',
        hidden: null,
        weights: [
          [1e308, 1e308],
          [-1e308, -1e308],
        ],
      },
    ],
    ['a posterior that is none', { by: 'thompson' }],
    ['a bound of it', { by: 'ucb', width: 1 }],
  ] as const)('takes the first safe option where its value gives no chances: %s', async (_, policy) => {
    const none = {
      precision: [
        [-1, 0],
        [0, -1],
      ],
      moments: [0, 0],
    }
    const options = careful.options.map((option) => ({ ...option, quality: none }))
    const { handle, decided } = handleOf(ChoiceValue.parse({ ...careful, options, policy }))
    expect(await handle.choose([9])).toBe('small')
    expect(decided[0]?.made.failed).toBe('bad-value')
  })

  it('takes the first option where none is safe', async () => {
    const { handle } = handleOf(valueOf({ options: ['large', 'small'], features: 1 }))
    expect(await handle.choose([])).toBe('large')
  })
})

describe('a value is refused', () => {
  const parsed = (change: object) => ChoiceValue.safeParse({ ...two, ...change })
  const quality = { alpha: 1, beta: 1 }
  const [small, large] = two.options

  it.each([
    ['one option', { options: [small] }, 'Too small'],
    ['a name that two have', { options: [small, small] }, 'one name'],
    ['a floor without a safe option', { floor: { quality: 1, risk: 0 } }, 'safe'],
    ['beliefs of other features', { features: 1 }, 'features'],
    ['weights of other options', { policy: { by: 'softmax', hidden: null, weights: [[0]] } }, '2 rows'],
    [
      'hidden units of other features',
      {
        policy: {
          by: 'softmax',
          hidden: [[0, 0]],
          weights: [
            [0, 0],
            [0, 0],
          ],
        },
      },
      'unit',
    ],
    ['an option that it has not', { policy: { by: 'fixed', option: 'huge' } }, '"huge"'],
    ['a range that falls', { range: [1, 0] }, 'rise'],
    ['a share above 1', { explore: 1.5 }, ''],
    ['a cost below 0', { options: [{ ...large, cost: -1, quality }, small] }, ''],
  ])('%s', (_, change, message) => {
    const { error } = parsed(change)
    expect(error?.issues.map((issue) => issue.message).join()).toContain(message)
    expect(parsed({}).success).toBe(true)
  })
})

describe('what a choice deposits', () => {
  it('is what was made, how it compares, and what the episode earned', async () => {
    const { handle, decided } = handleOf(two)
    await handle.choose()
    const trajectory = trajectoryOf({ decisions: [{ parameter: 'route', kind: 'choice' }] })
    const [decision] = trajectory.decisions
    const [one] = decided
    if (!decision || !one) throw new Error('nothing was decided')
    const credit = { trajectory: trajectory.id, decision: decision.id, advantage: 0.5, utility: 0.9 }
    expect(choiceKind.deposit([{ decision, credit, made: one.made }], trajectory)).toEqual([
      { ...one.made, advantage: 0.5, earned: 0.9, charged: 0 },
    ])
    expect(
      choiceKind.deposit([{ decision, credit: { ...credit, charged: 0.3 }, made: one.made }], trajectory),
    ).toMatchObject([{ charged: 0.3 }])
    const silent = { trajectory: trajectory.id, decision: decision.id, advantage: null }
    expect(choiceKind.deposit([{ decision, credit: silent, made: one.made }], trajectory)[0]).toMatchObject({
      advantage: null,
      earned: null,
    })
  })
})

describe('optionCosts', () => {
  it('counts what the options of one choice cost against an episode', async () => {
    const { handle, decided } = handleOf(
      valueOf({
        options: [
          { name: 'a', cost: 0.25 },
          { name: 'b', cost: 0.25 },
        ],
      }),
    )
    await handle.choose()
    await handle.choose([], { key: 'again' })
    const { decisions } = trajectoryOf({
      decisions: [{ parameter: 'route' }, { parameter: 'other' }, { parameter: 'route' }],
    })
    const made = decisions.map((decision, i) => ({ ...decision, ...(i < 2 && { made: decided[i]?.made ?? null }) }))
    expect(optionCosts('route').score({ decisions: made })).toBe(-0.25)
    expect(optionCosts('way').score({ decisions: made })).toBe(-0)
  })
})
