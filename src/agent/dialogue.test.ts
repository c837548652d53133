import { describe, expect, it } from 'vitest'
import { attempt } from '../../test/support/attempt.ts'
import { branches, sampledTokens, type TrajectoryNode } from '../core/index.ts'
import { type Agent, defineAgent } from './agent.ts'
import { user, weights } from './parameters.ts'
import { policySamples } from './policy-samples.ts'
import type { Script } from '../../test/support/scripted-model.ts'

const parameters = { model: weights({ base: 'scripted' }) }
const done = { stopReason: 'done', message: null } as const
const agentThat = (run: (...its: Parameters<Agent<typeof parameters>['run']>) => Promise<unknown>) =>
  defineAgent({
    name: 'agent',
    parameters,
    async run(...its) {
      await run(...its)
      return done
    },
  })

/** Answers with what follows the last question, and the words before it that the prompt holds. */
const echo: Script = (prompt) => [`heard ${prompt.slice(prompt.lastIndexOf('user: ') + 6).split(/\s/)[0]}`]
const contents = ({ nodes }: { readonly nodes: readonly TrajectoryNode[] }) =>
  nodes.map(({ message }) => message.content)

describe('a forked conversation', () => {
  const forked = agentThat(async (_, { model }) => {
    const talk = model.converse([user('plan')])
    await talk.reply()
    const other = talk.fork()
    expect((await talk.reply([user('left')])).content).toBe('heard left')
    expect((await other.reply([user('right')])).content).toBe('heard right')
    await other.reply([user('on')])
  })

  it('has one beginning, as the same nodes, and goes on in its own way', async () => {
    const trajectory = await attempt(echo, { agent: forked })
    expect(trajectory.failure).toBeNull()
    expect(contents(trajectory).filter((content) => content === 'heard plan').length).toBe(1)
    expect(branches(trajectory).map((nodes) => contents({ nodes }))).toEqual([
      ['plan', 'heard plan', 'left', 'heard left'],
      ['plan', 'heard plan', 'right', 'heard right', 'on', 'heard on'],
    ])
    expect(trajectory.steps.map(({ observations }) => observations.length)).toEqual([2, 0, 1, 0])
  })

  it('is trained on each sampled token once', async () => {
    const trajectory = await attempt(echo, { agent: forked })
    const decided = trajectory.decisions.map((decision) => ({
      decision,
      credit: { trajectory: trajectory.id, decision: decision.id, advantage: 1 },
    }))
    const samples = policySamples.deposit(trajectory, decided)
    expect(samples.length).toBe(2)
    expect(samples.flatMap(({ sampled }) => sampled.filter(Boolean)).length).toBe(sampledTokens(trajectory))
  })

  it('before anybody spoke gives several answers to one opening', async () => {
    const dice: Script = () => ['one', 'two', 'three', 'four', 'five', 'six']
    const agent = agentThat(async (_, { model }) => {
      const talk = model.converse([user('roll')])
      await Promise.all(Array.from({ length: 8 }, () => talk.fork().reply()))
    })
    const trajectory = await attempt(dice, { agent })
    expect(trajectory.nodes.length).toBe(9)
    expect(new Set(contents(trajectory)).size).toBeGreaterThan(2)
  })

  it('is charged to the same budget', async () => {
    const agent = agentThat(async (_, { model }) => {
      const talk = model.converse([user('plan')])
      await talk.reply()
      for (;;) await talk.fork().reply([user('more')])
    })
    const trajectory = await attempt(echo, { agent })
    expect([trajectory.stopReason, trajectory.steps.length]).toEqual(['turn-budget', 8])
  })
})

it('messages before the model spoke belong to the opening', async () => {
  const agent = agentThat((_, { model }) => model.converse([user('a')]).reply([user('b')]))
  expect(await attempt(echo, { agent })).toMatchObject({
    stopReason: 'agent-error',
    failure: { code: 'agent/nothing-said-yet' },
  })
})

it('a conversation can act in the episode after it has talked', async () => {
  const agent = agentThat(async (task, { model }, episode) => {
    const talk = model.converse([user('think')], { tools: episode.tools })
    await talk.reply()
    return talk.act(episode, [user(task.instruction)])
  })
  const trajectory = await attempt(
    (prompt) => [
      !prompt.includes('What is') ? 'hm' : prompt.includes('the word is') ? '!answer {"word":"plum"}' : '!look {}',
    ],
    { agent },
  )
  expect(trajectory.finalState?.state).toEqual({ answer: 'plum', secret: 'plum' })
  expect(branches(trajectory).length).toBe(1)
  expect(trajectory.outcome).toBeUndefined()
})
