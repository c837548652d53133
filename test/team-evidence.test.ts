import { describe, expect, it } from 'vitest'
import { worth as worthOfJobs } from '../scripts/credit-evidence/durations.mjs'
import { deedsOf, earned, worth as worthOfTeam } from '../scripts/credit-evidence/members.mjs'
import { Policy } from '../scripts/credit-evidence/policy.mjs'
import { ways, worth as worthOfRoles } from '../scripts/credit-evidence/roles.mjs'
import { worth as worthOfStages } from '../scripts/credit-evidence/stages.mjs'
import { rng } from '../src/core/index.ts'

/** Every act alike. */
const knowsNothing = new Policy([], 0)
const sure = 50

describe('the success of a policy, computed', () => {
  it('is what chance gives where it knows nothing', () => {
    expect(worthOfRoles(knowsNothing)).toBeCloseTo(1 / 4)
    // Of ten kinds one member matters in five, and two in five.
    expect(worthOfTeam(knowsNothing, { outcome: 'all' })).toBeCloseTo((1 / 4 + 1 / 16) / 2)
    expect(worthOfTeam(knowsNothing, { outcome: 'parts' })).toBeCloseTo(1 / 4)
    // A third of the preparations is right, and the five methods succeed at 0.9, 0.5 and three times 0.2.
    expect(worthOfJobs(knowsNothing)).toBeCloseTo(((1 + 2 / 3) / 3) * (2 / 5))
    expect(worthOfStages(knowsNothing)).toBeCloseTo((0.95 / 4 + (3 * 0.2) / 4) ** 4)
  })

  it('of roles is half where each x has one answer, which is all that is played', () => {
    const preferences = [0, 1, 2, 3].flatMap((x): [string, number][] => [
      [`generator ${x} ${x}`, sure],
      ...['right', 'wrong'].map((verdict): [string, number] => [`refiner ${x} ${x} ${verdict} ${x}`, sure]),
    ])
    const policy = new Policy(preferences, 0)
    expect(worthOfRoles(policy)).toBeCloseTo(1 / 2)
    const played = ways(policy, { x: 1, y: 1, right: 2 }, 3, rng('played'))
    expect(new Set(played.map(([, , last]) => last?.acts[last.chosen]?.said))).toEqual(new Set(['1']))
  })
})

it('a tree has three tries of each role after each turn of the one before', () => {
  const played = ways(knowsNothing, { x: 0, y: 0, right: 0 }, 3, rng('tree'))
  const turnsOf = (role: number) => new Set(played.map((turns) => turns[role])).size
  expect([played.length, turnsOf(0), turnsOf(1), turnsOf(2)]).toEqual([27, 3, 9, 27])
})

it('a team loses something only without those who matter', () => {
  const cues = [0, 1, 2, 3, 0]
  const everyone = [0, 1, 2, 3, 4]
  const preferences = everyone.map((member, i): [string, number] => [
    `${member} ${cues[i]} ${((cues[i] ?? 0) + member) % 4}`,
    sure,
  ])
  const deeds = deedsOf(new Policy(preferences, 0), cues, rng('team'))
  const lost = (outcome: 'all' | 'parts') =>
    everyone.map((out) => {
      const task = { kind: [1, 2], cues, outcome }
      return (
        earned(task, deeds, everyone) -
        earned(
          task,
          deeds,
          everyone.filter((member) => member !== out),
        )
      )
    })
  expect(lost('all')).toEqual([0, 1, 1, 0, 0])
  expect(lost('parts')).toEqual([0, 0.5, 0.5, 0, 0])
})
