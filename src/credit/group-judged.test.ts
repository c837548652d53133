import { describe, expect, it } from 'vitest'
import { attemptsOf, creditContext, missing, scored, vetoed } from '../../test/support/trajectories.ts'
import { type Group, type GroupJudge, GroupId } from '../core/index.ts'
import { groupJudged, groupMean } from './index.ts'

const group = (...rewards: Parameters<typeof attemptsOf>[0]): Group => ({
  id: GroupId.parse('g'),
  attempts: attemptsOf(rewards),
})
const judging = (scores: readonly number[] | null) => {
  const seen: string[][] = []
  const judge: GroupJudge = {
    name: 'test',
    judge: (attempts) => {
      seen.push(attempts.map(({ id }) => id))
      return Promise.resolve(
        scores === null ? { status: 'missing', reason: 'down' } : { status: 'scored', scores, explanations: [] },
      )
    },
  }
  return { seen, judge }
}
const credit = async (judge: GroupJudge, of: Group, weight?: number) => {
  const { credits, counts } = await groupJudged({
    judge,
    outcome: groupMean(),
    ...(weight === undefined ? {} : { weight }),
  }).credit([of], creditContext)
  return { advantages: credits.map(({ advantage }) => advantage), counts }
}

describe('a group with a judge', () => {
  it('adds its scores, times a weight', async () => {
    // 1 + 0.5·0, 0 + 0.5·1; the mean is 0.75.
    expect((await credit(judging([0, 1]).judge, group(scored(1), scored(0)), 0.5)).advantages).toEqual([0.25, -0.25])
  })

  it('is asked of what counts alone, and vetoed attempts keep what they earned', async () => {
    const { judge, seen } = judging([0.25, 0.75])
    const { counts } = await credit(judge, group(vetoed(0), scored(1), missing, scored(1)))
    expect(seen).toEqual([['t1', 't3']])
    expect(counts).toMatchObject({ missing: 1, vetoed: 1 })
  })

  it('keeps the contrast of its only honest attempt to those that were vetoed, and asks nobody', async () => {
    const { judge, seen } = judging(null)
    const { advantages, counts } = await credit(judge, group(vetoed(0), scored(0.5), vetoed(0), vetoed(0)))
    // 0.5 + 0.5; the mean is 0.25.
    expect(advantages).toEqual([-0.25, 0.75, -0.25, -0.25])
    expect(counts).toMatchObject({ missing: 0, vetoed: 3 })
    expect(seen).toEqual([])
  })

  it('has no reward where it has no verdict: missing, never 0', async () => {
    const { advantages, counts } = await credit(judging(null).judge, group(scored(1), scored(0)))
    expect(advantages.filter((one) => one !== null)).toEqual([])
    expect(counts).toMatchObject({ missing: 2 })
  })
})
