import { expect, it } from 'vitest'
import { choice, even } from '../../test/support/choice-kind.ts'
import { scriptedModel } from '../../test/support/scripted-model.ts'
import { wordEnvironment, wordTask } from '../../test/support/word-environment.ts'
import { type Decision, GroupId, rng, Trajectory, TrajectoryId, upstreamOf, VersionId } from '../core/index.ts'
import { type Agent, defineAgent } from './agent.ts'
import { parameter, text, user, weights } from './parameters.ts'
import { runEpisode } from './run-episode.ts'

const parameters = { model: weights({ base: 'scripted' }), route: parameter(choice, even), hint: text('') }
const inForce = (version: string) => ({ version: VersionId.parse(version), generation: 1, checkpoint: null })

async function play(run: Agent<typeof parameters>['run']): Promise<Trajectory> {
  const budget = { turns: 9999, tokens: 99_999, tokensPerTurn: 9, malformedCalls: 1, toolErrors: 1 }
  const trajectory = await runEpisode({
    id: TrajectoryId.parse('e0'),
    agent: defineAgent({ name: 'agent', parameters, run }),
    environment: wordEnvironment,
    task: wordTask('t', 'plum'),
    group: GroupId.parse('g'),
    attempt: 0,
    seed: 1,
    bindings: {
      model: scriptedModel(() => ['done']).binding({ budget }),
      route: { kind: 'choice', value: even, rng: rng('route'), inForce: inForce('r1') },
      hint: { kind: 'text', value: { text: 'Be brief.' }, rng: rng('hint'), inForce: inForce('h1') },
    },
    now: () => 0,
  })
  expect(Trajectory.parse(trajectory)).toEqual(trajectory)
  expect(trajectory).toMatchObject({ stopReason: 'done', failure: null })
  return trajectory
}

const done = { stopReason: 'done', message: null } as const
const linksOf = ({ inputs }: Decision) => inputs.flatMap((input) => (typeof input === 'string' ? [] : [input.decision]))

it('choices and calls by turns make links in proportion to their number, and each call has read every choice', async () => {
  const turns = 2000
  const trajectory = await play(async (_, { model, route }) => {
    for (let i = 0; i < turns; i++) await model.complete([user(route.choose())])
    return done
  })
  const { decisions, steps } = trajectory
  const links = decisions.map((decision) => linksOf(decision).length)
  expect(links.reduce((sum, count) => sum + count)).toBe(2 * turns - 1)
  expect(Math.max(...links)).toBe(1)
  // All choices, and the last call.
  expect(upstreamOf(decisions.at(-1)?.inputs ?? [], trajectory).size).toBe(turns)
  expect(steps.every((step) => step.decisions.length === 2)).toBe(true)
})

it('each belongs to the first Step that has read it, in its order', async () => {
  const { steps, decisions } = await play(async (_, { model, route }) => {
    route.choose()
    const early = model.complete([user('early')])
    route.choose()
    await Promise.all([early, model.complete([user('late')])])
    route.choose()
    return done
  })
  expect(decisions.map(({ kind }) => kind)).toEqual(['choice', 'choice', 'weights', 'weights', 'choice'])
  expect(decisions.map(linksOf)).toEqual([[], ['d0'], ['d0'], ['d1'], ['d1']])
  expect(steps.map((step) => step.decisions)).toEqual([
    ['d0', 'd2'],
    ['d1', 'd3'],
  ])
})

it('a text that a message held first is named beside the last of them, until the next one names both', async () => {
  const { decisions } = await play(async (_, { model, route, hint }) => {
    await model.complete([hint.message(), user('first')])
    route.choose()
    const { length } = hint.value
    await model.complete([user(`second ${length}`)])
    route.choose()
    await model.complete([user(`third ${hint.value.length}`)])
    return done
  })
  expect(decisions.map(({ kind }) => kind)).toEqual(['text', 'weights', 'choice', 'weights', 'choice', 'weights'])
  expect(decisions.map(linksOf)).toEqual([[], [], [], ['d2', 'd0'], ['d2', 'd0'], ['d4']])
})
