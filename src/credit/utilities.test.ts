import { expect, it } from 'vitest'
import { attemptsOf, creditContext, missing, scored, vetoed } from '../../test/support/trajectories.ts'
import { type Group, GroupId, type Reward, TrajectoryId } from '../core/index.ts'
import { leaveOneOut } from './leave-one-out.ts'
import { utilities } from './utilities.ts'

const groupOf = (id: string, rewards: readonly Reward[]): Group => ({
  id: GroupId.parse(id),
  attempts: attemptsOf(rewards).map(({ trajectory, reward }) => ({
    trajectory: { ...trajectory, id: TrajectoryId.parse(`${id}-${trajectory.id}`) },
    reward,
  })),
})

it('tells what each attempt earned, also where the comparison says nothing', async () => {
  const groups = [groupOf('mixed', [scored(1), scored(0)]), groupOf('equal', [scored(1), scored(1)])]
  const { credits, counts } = await utilities(leaveOneOut()).credit(groups, creditContext)
  expect(credits.map(({ advantage, utility }) => [advantage, utility])).toEqual([
    [1, 1],
    [-1, 0],
    [null, 1],
    [null, 1],
  ])
  expect(counts).toMatchObject({ uniformGroups: 1 })
})

it('tells nothing of what a guard vetoed, nor of what is missing', async () => {
  const { credits } = await utilities(leaveOneOut()).credit(
    [groupOf('g', [scored(1), vetoed(0), missing])],
    creditContext,
  )
  expect(credits.map(({ advantage, utility }) => [advantage, utility])).toEqual([
    [1, 1],
    [-1, undefined],
  ])
})
