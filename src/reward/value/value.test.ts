import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AssistantMessage, type Message, rng } from '../../core/index.ts'
import {
  ActionValue,
  actionValue,
  type Experience,
  fitActionValue,
  type Move,
  type MoveFeatures,
  valueRanker,
} from './index.ts'

const user = (content: string): Message => ({ role: 'user', content })
const say = (content: string): AssistantMessage => ({ role: 'assistant', content })

/** One number for each pair of what was shown last and what is said. */
const oneHot = (pairs: readonly string[]): MoveFeatures => ({
  name: 'pairs',
  of: (moves) =>
    Promise.resolve(
      moves.map(({ read, said }) => pairs.map((pair) => Number(pair === `${read.at(-1)?.content} ${said.content}`))),
    ),
})

/** An episode: at each place something is said, and the last of it earns the outcome. */
function episode(subject: string, path: readonly (readonly [string, string])[], outcome: number, logprobs?: number[]) {
  let read: Message[] = []
  const moves = path.map(([place, said], i): Move => {
    const seen = [...read, user(place)]
    read = [...seen, say(said)]
    const reward = i === path.length - 1 ? outcome : 0
    return { read: seen, said: say(said), logprob: logprobs?.[i] ?? null, reward }
  })
  return { subject, moves }
}

/**
 * A chain: at each of two places one may stop for 0.3, or go on; at its end `win` earns 1 and `fall` 0. Who walks it falls nine
 * times of ten, and goes on one time of two.
 */
const chainOf = (subjects: number): Experience[] =>
  Array.from({ length: subjects }, (_, s) => {
    const at = (path: [string, string][], outcome: number) => episode(`t${s}`, path, outcome)
    const [a, b]: [string, string][] = [
      ['a', 'on'],
      ['b', 'on'],
    ]
    return [
      ...Array.from({ length: 9 }, () => at([a!, b!, ['c', 'fall']], 0)),
      at([a!, b!, ['c', 'win']], 1),
      ...Array.from({ length: 10 }, () => at([a!, ['b', 'stop']], 0.3)),
      ...Array.from({ length: 20 }, () => at([['a', 'stop']], 0.3)),
    ]
  }).flat()

const chainPairs = ['a on', 'a stop', 'b on', 'b stop', 'c win', 'c fall']
const chain = oneHot(chainPairs)
const exact = { discount: 0.9, lambda: 1e-7 }

async function chainValues(options: Parameters<typeof fitActionValue>[2]) {
  const fit = await fitActionValue(chainOf(12), chain, { ...exact, ...options })
  if (fit.status === 'refused') throw new Error(fit.reason)
  const rows = chainPairs.map((_, i) => chainPairs.map((__, j) => Number(i === j)))
  return Object.fromEntries(chainPairs.map((pair, i) => [pair, actionValue(fit.value, rows[i] ?? [], null)]))
}

describe('a value from what others did', () => {
  it('ranks as the best policy would, though a bad one acted', async () => {
    const values = await chainValues({})
    // γ² = 0.81 and γ = 0.9: what going on comes to, if one then wins.
    const by = { 'a on': 0.81, 'a stop': 0.3, 'b on': 0.9, 'b stop': 0.3, 'c win': 1, 'c fall': 0 }
    for (const [pair, value] of Object.entries(by)) expect(values[pair]).toBeCloseTo(value, 4)
  })

  it('ranks as who acted would, where it is the return of what was done', async () => {
    const values = await chainValues({ backup: 'return' })
    // On from a: a tenth of half wins γ²; the other half stops at b for 0.3·γ. On from b: a tenth wins γ.
    const by = { 'a on': 0.05 * 0.81 + 0.5 * 0.27, 'a stop': 0.3, 'b on': 0.09, 'b stop': 0.3, 'c win': 1, 'c fall': 0 }
    for (const [pair, value] of Object.entries(by)) expect(values[pair]).toBeCloseTo(value, 4)
    expect(values['a on']).toBeLessThan(values['a stop'] ?? 0)
  })

  it('is what the likeliest moves come to, where it is backed up by them', async () => {
    const told = chainOf(12).map(({ subject, moves }) => ({
      subject,
      moves: moves.map((move) => ({
        ...move,
        logprob: { on: -0.7, stop: -0.8, fall: -0.1, win: -2.3 }[move.said.content] ?? 0,
      })),
    }))
    const fit = await fitActionValue(told, chain, { ...exact, backup: 'likeliest', prior: 'none' })
    if (fit.status === 'refused') throw new Error(fit.reason)
    // The first choice goes on and falls: going on is worth nothing.
    const values = chainPairs.map((_, i) =>
      actionValue(
        fit.value,
        chainPairs.map((__, j) => Number(i === j)),
        null,
      ),
    )
    for (const [i, value] of [0, 0.3, 0, 0.3, 1, 0].entries()) expect(values[i]).toBeCloseTo(value, 4)
  })

  it('begins as a line in the log-probabilities, and stays it where features tell nothing', async () => {
    const nothing: MoveFeatures = { name: 'nothing', of: (moves) => Promise.resolve(moves.map(() => [0])) }
    const told = Array.from({ length: 12 }, (_, s) => [
      episode(`t${s}`, [['a', 'x']], 1, [-1]),
      episode(`t${s}`, [['a', 'y']], 0, [-3]),
      episode(`t${s}`, [['a', 'z']], 0.5, undefined),
    ]).flat()
    const differ: MoveFeatures = {
      name: 'said',
      of: (moves) => Promise.resolve(moves.map(({ said }) => [said.content === 'x' ? 1e-9 : 0])),
    }
    expect((await fitActionValue(told, nothing)).status).toBe('refused')
    const fit = await fitActionValue(told, differ)
    if (fit.status === 'refused') throw new Error(fit.reason)
    // From −3 to −1 what is earned rises by 1; the middle is −2, and what was told of no log-probability stands there.
    expect(fit.value.logprob).toEqual({ slope: 0.5, middle: -2 })
    expect([-1, -2, null, -3].map((logprob) => actionValue(fit.value, [0], logprob))).toEqual(
      [1, 0.5, 0.5, 0].map((value) => expect.closeTo(value, 6) as number),
    )
    // Likelier moves that earn less tell nothing.
    const turned = told.map(({ subject, moves }) => ({
      subject,
      moves: moves.map((move) => ({ ...move, reward: 1 - (move.reward ?? 0) })),
    }))
    const other = await fitActionValue(turned, oneHot(['a x', 'a y', 'a z']))
    expect(other.status === 'fitted' && other.value.logprob.slope).toBe(0)
  })

  it('is that of the best policy in any small tree in which all was tried, whoever tried how often', async () => {
    const worlds = fc.record({
      seed: fc.nat(),
      places: fc.integer({ min: 2, max: 4 }),
      discount: fc.double({ min: 0.5, max: 1, noNaN: true }),
    })
    await fc.assert(
      fc.asyncProperty(worlds, async ({ seed, places, discount }) => {
        const random = rng('tree', seed)
        const rewards = Array.from({ length: places }, () => [random.next(), random.next()])
        // Saying 0 ends it with a reward; saying 1 goes on, and ends the last place too.
        const paths = rewards.flatMap((pair, depth) =>
          [0, 1].flatMap((last) => {
            if (last === 1 && depth < places - 1) return []
            const path = Array.from({ length: depth + 1 }, (_, i): [string, string] => [
              `p${i}`,
              i === depth ? `${last}` : '1',
            ])
            return Array.from({ length: 1 + random.int(5) }, () => ({ path, outcome: pair[last] ?? 0 }))
          }),
        )
        const all = Array.from({ length: 10 }, (_, s) =>
          paths.map(({ path, outcome }) => episode(`t${s}`, path, outcome)),
        ).flat()
        const pairs = rewards.flatMap((_, i) => [`p${i} 0`, `p${i} 1`])
        const fit = await fitActionValue(all, oneHot(pairs), { discount, lambda: 1e-7 })
        if (fit.status === 'refused') throw new Error(fit.reason)
        let later = 0
        for (let i = places - 1; i >= 0; i--) {
          const end = rewards[i]?.[0] ?? 0
          const on = i === places - 1 ? (rewards[i]?.[1] ?? 0) : discount * later
          for (const [k, truth] of [end, on].entries()) {
            const row = pairs.map((__, j) => Number(j === 2 * i + k))
            expect(actionValue(fit.value, row, null)).toBeCloseTo(truth, 4)
          }
          later = Math.max(end, on)
        }
      }),
      { numRuns: 25 },
    )
  })

  it('repeats, in whatever order the episodes come, and survives JSON', async () => {
    const fits = [chainOf(12), rng('order').shuffle(chainOf(12))].map((each) => fitActionValue(each, chain, exact))
    const [a, b] = await Promise.all(fits)
    if (a?.status !== 'fitted' || b?.status !== 'fitted') throw new Error('refused')
    expect(b.value.weights).toEqual(a.value.weights.map((one) => expect.closeTo(one, 4) as number))
    expect(ActionValue.parse(JSON.parse(JSON.stringify(a.value)))).toEqual(a.value)
  })
})

describe('a value is refused', () => {
  /** At one place of each task several things are said: `good` earns 1 as often as the share says, others else. */
  const noise = (share: number, seed: number) => {
    const random = rng('noise', seed)
    return Array.from({ length: 30 }, (_, s) =>
      Array.from({ length: 6 }, (__, i) => {
        const said = i % 2 === 0 ? 'good' : 'bad'
        const right = random.next() < (said === 'good' ? share : 1 - share)
        return episode(`t${s}`, [['a', said]], Number(right))
      }),
    ).flat()
  }
  const pairs = oneHot(['a good', 'a bad'])

  it('where nothing that is said makes a difference, in 19 of 20 worlds', async () => {
    const fits = await Promise.all(Array.from({ length: 60 }, (_, seed) => fitActionValue(noise(0.5, seed), pairs)))
    expect(fits.filter(({ status }) => status === 'fitted').length).toBeLessThanOrEqual(7)
    const sure = await fitActionValue(noise(0.9, 1), pairs)
    expect(sure).toMatchObject({ status: 'fitted', evidence: { subjects: 30, states: 30, moves: 180 } })
    expect(sure.evidence.ranked).toBeGreaterThan(0.9)
  })

  it('where it knows which task is easy, and nothing of what to do there', async () => {
    const easy = Array.from({ length: 30 }, (_, s) =>
      ['x', 'y', 'x', 'y'].map((said) =>
        episode(`t${s}`, [[s % 2 === 0 ? 'easy' : 'hard', said]], s % 2 === 0 ? 1 : 0),
      ),
    ).flat()
    const fit = await fitActionValue(easy, oneHot(['easy x', 'easy y', 'hard x', 'hard y']))
    expect(fit).toMatchObject({ status: 'refused', reason: expect.stringContaining('constant') as string })
    expect(fit.evidence.ranked).toBeNull()
  })

  it('where too few tasks were tried in several ways, or none', async () => {
    const few = { status: 'refused', reason: expect.stringContaining('too little') as string }
    expect(await fitActionValue([], pairs)).toMatchObject(few)
    expect(await fitActionValue(noise(0.9, 1).slice(0, 9 * 6), pairs)).toMatchObject({
      ...few,
      evidence: { subjects: 9 },
    })
    const once = noise(0.9, 1).filter((_, i) => i % 6 === 0)
    expect(await fitActionValue(once, pairs)).toMatchObject({
      ...few,
      evidence: { states: 0, gain: null, ranked: null },
    })
    const unknown = noise(0.9, 1).map(({ subject, moves }) => ({
      subject,
      moves: moves.map((move) => ({ ...move, reward: null })),
    }))
    expect(await fitActionValue(unknown, pairs)).toMatchObject(few)
  })

  it('and bad input is an error', async () => {
    const broken = (of: MoveFeatures['of']): MoveFeatures => ({ name: 'broken', of })
    const bad = expect.objectContaining({ code: 'reward/bad-features' }) as Error
    let calls = 0
    await expect(
      fitActionValue(
        noise(0.9, 1),
        broken((moves) => Promise.resolve(moves.map(() => Array.from({ length: 1 + (calls++ % 2) }, () => 0)))),
      ),
    ).rejects.toThrow(bad)
    await expect(
      fitActionValue(
        noise(0.9, 1),
        broken((moves) => Promise.resolve(moves.map(() => [Number.NaN]))),
      ),
    ).rejects.toThrow(bad)
    await expect(
      fitActionValue(
        noise(0.9, 1),
        broken(() => Promise.resolve([])),
      ),
    ).rejects.toThrow(bad)
    const nan = [episode('t', [['a', 'x']], Number.NaN)]
    await expect(fitActionValue(nan, pairs)).rejects.toMatchObject({ code: 'reward/not-finite' })
    await expect(fitActionValue([episode('t', [['a', 'x']], 1, [-Infinity])], pairs)).rejects.toMatchObject({
      code: 'reward/not-finite',
    })
    for (const options of [{ discount: 1.1 }, { lambda: 0 }, { alpha: 0.5 }, { leastSubjects: 9 }]) {
      await expect(fitActionValue([], pairs, options)).rejects.toMatchObject({ code: 'input/invalid' })
    }
    const fit = await fitActionValue(noise(0.9, 1), pairs)
    if (fit.status === 'refused') throw new Error(fit.reason)
    expect(() => actionValue(fit.value, [1], null)).toThrow(bad)
    expect(() => valueRanker(fit.value, chain)).not.toThrow()
    expect(() =>
      valueRanker(
        fit.value,
        broken(() => Promise.resolve([])),
      ),
    ).toThrow(expect.objectContaining({ code: 'reward/other-features' }) as Error)
    const ranker = valueRanker(fit.value, pairs)
    const [good = 0, other = 0] = await ranker.rank(
      [user('a')],
      [
        { message: say('good'), logprob: -2 },
        { message: say('bad'), logprob: null },
      ],
    )
    expect(good).toBeGreaterThan(other)
  })
})
