import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { advantagesIn, groupOf } from '../../test/support/episodes.ts'
import { creditContext, missing, scored, vetoed } from '../../test/support/trajectories.ts'
import type { Group, Reward } from '../core/index.ts'
import { team } from './index.ts'
import { shapley } from './shapley.ts'

/** Attempts of coalitions: the letters of their members, one Decision each. */
const played = (attempts: readonly (readonly [string, Reward])[]): Group =>
  groupOf(attempts.map(([members, reward]) => [[{ by: members.split('') }], reward] as const))

// Planner p, coder c. Alone 0.2 and 0.4, both 1 and 0.8, nobody 0.
const group = played([
  ['pc', scored(1)],
  ['pc', scored(0.8)],
  ['p', scored(0.2)],
  ['c', scored(0.4)],
  ['', scored(0)],
])
const close = (found: readonly (readonly (number | null | undefined)[])[], wanted: readonly (readonly number[])[]) => {
  for (const [i, own] of wanted.entries())
    for (const [j, value] of own.entries()) expect(found[i]?.[j]).toBeCloseTo(value, 12)
}

describe('credit of a team, by hand', () => {
  it('difference: what the whole loses without the member', async () => {
    close(await advantagesIn(team(), [group]), [[1 - 0.4, 1 - 0.2], [0.8 - 0.4, 0.8 - 0.2], [0.2 - 0], [0.4 - 0]])
  })

  it('Shapley: half of what each adds to nobody, and half of what it adds to the other', async () => {
    close(await advantagesIn(team({ share: 'shapley' }), [group]), [
      [0.5 * 0.2 + 0.5 * 0.6, 0.5 * 0.4 + 0.5 * 0.8],
      [0.5 * 0.2 + 0.5 * 0.4, 0.5 * 0.4 + 0.5 * 0.6],
      [0.2],
      [0.4],
    ])
  })

  it('takes what nobody earns as it is told, and counts what cannot be told', async () => {
    const without = { ...group, attempts: group.attempts.slice(0, 3) }
    // c alone was not seen, and nobody neither: only the coder can be compared, with p alone.
    const { counts } = await team().credit([without], creditContext)
    expect(counts.incomparable).toBe(3)
    expect((await team({ nobody: 0 }).credit([without], creditContext)).counts.incomparable).toBe(2)
    const parts = await team({ share: 'shapley', nobody: 0 }).credit([without], creditContext)
    expect(parts.counts.incomparable).toBe(4)
    expect(parts.credits.map(({ advantage }) => advantage)).toEqual([0.2])
  })

  it('credits the members that it is told, whoever else decides', async () => {
    const found = await advantagesIn(team({ members: ['p'], nobody: 0.5 }), [
      played([
        ['pc', scored(1)],
        ['c', scored(0)],
      ]),
    ])
    expect(found).toEqual([[0.5, undefined], [undefined]])
  })

  it('takes no part of what is missing, and never praises what was gamed', async () => {
    const found = await advantagesIn(team({ nobody: 0 }), [
      played([
        ['p', vetoed(1)],
        ['p', missing],
        ['p', scored(-1)],
      ]),
    ])
    expect(found).toEqual([[0], [undefined], [-1]])
  })

  it('drops what says nothing', async () => {
    const groups = [
      played([['p', scored(1)]]),
      played([
        ['p', scored(1)],
        ['', scored(1)],
      ]),
    ]
    expect((await team().credit(groups, creditContext)).counts).toMatchObject({ singletonGroups: 1, uniformGroups: 1 })
    // Equal rewards say something beside what nobody earns.
    expect((await team({ nobody: 0 }).credit(groups.slice(1), creditContext)).credits).toHaveLength(1)
  })

  it('refuses a team with too many coalitions', async () => {
    const large = played([
      ['abcdefghijklm', scored(1)],
      ['a', scored(0)],
    ])
    await expect(team({ share: 'shapley' }).credit([large], creditContext)).rejects.toMatchObject({
      code: 'credit/large-team',
    })
    expect((await team().credit([large], creditContext)).counts.incomparable).toBe(14)
  })
})

describe('Shapley values', () => {
  const players = ['a', 'b', 'c', 'd']
  /** A worth for each coalition, by the members' letters. */
  const game = fc.array(fc.integer({ min: -10, max: 10 }), { minLength: 16, maxLength: 16 })
  const maskOf = (coalition: readonly string[]) =>
    coalition.reduce((mask, each) => mask + 2 ** players.indexOf(each), 0)

  it('of a glove game: one left glove, two right ones', () => {
    const worth = (of: readonly string[]) => (of.includes('l') && (of.includes('r') || of.includes('s')) ? 1 : 0)
    const parts = shapley(['l', 'r', 's'], worth)
    expect([...parts.values()].map((part) => part?.toFixed(9))).toEqual(
      [2 / 3, 1 / 6, 1 / 6].map((part) => part.toFixed(9)),
    )
  })

  it('add up to what all earn beyond nobody, and are the mean over all orders', () => {
    fc.assert(
      fc.property(game, (worths) => {
        const worth = (of: readonly string[]) => worths[maskOf(of)] ?? 0
        const parts = shapley(players, worth)
        const sum = [...parts.values()].reduce<number>((total, part) => total + (part ?? 0), 0)
        expect(sum).toBeCloseTo(worth(players) - worth([]), 9)
        const orders = permutations(players)
        for (const player of players) {
          const added = orders.map((order) => {
            const before = order.slice(0, order.indexOf(player))
            return worth([...before, player]) - worth(before)
          })
          expect(parts.get(player)).toBeCloseTo(added.reduce((total, each) => total + each, 0) / orders.length, 9)
        }
      }),
      { numRuns: 30 },
    )
  })

  it('are additive parts where the worth is additive, as in VDN, and nothing for who adds nothing', () => {
    const own: Readonly<Record<string, number>> = { a: 3, b: -1, c: 0.5, d: 0 }
    const parts = shapley(players, (of) => of.reduce((sum, each) => sum + (own[each] ?? 0), 7))
    for (const player of players) expect(parts.get(player)).toBeCloseTo(own[player] ?? Number.NaN, 12)
  })
})

const permutations = <T>(of: readonly T[]): readonly (readonly T[])[] =>
  of.length === 0 ? [[]] : of.flatMap((first, i) => permutations(of.toSpliced(i, 1)).map((rest) => [first, ...rest]))
