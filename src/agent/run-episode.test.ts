import { describe, expect, it } from 'vitest'
import { actor, attempt, expert } from '../../test/support/attempt.ts'
import { scriptedModel } from '../../test/support/scripted-model.ts'
import { wordEnvironment, wordTask } from '../../test/support/word-environment.ts'
import { type Environment, type Episode, GroupId, rng, Trajectory, TrajectoryId } from '../core/index.ts'
import { InputError } from '../errors/index.ts'
import { type Agent, defineAgent } from './agent.ts'
import { user, weights } from './parameters.ts'
import { runEpisode } from './run-episode.ts'

const parameters = { model: weights({ base: 'scripted' }) }
const agentThat = (run: Agent<typeof parameters>['run']) => defineAgent({ name: 'agent', parameters, run })

/** The word environment with some of its episode replaced. */
const environmentWith = (change: Partial<Episode>): Environment => ({
  name: 'changed',
  async open(task, seed) {
    const episode = await wordEnvironment.open(task, seed)
    return {
      opening: episode.opening,
      tools: episode.tools,
      step: (action) => episode.step(action),
      close: () => episode.close(),
      ...change,
    }
  },
})
const throwing = (error: unknown) => () => {
  throw error
}

describe('a failure is data, recorded at its boundary', () => {
  it('the environment does not open', async () => {
    const environment: Environment = { name: 'down', open: throwing(new Error('no space left')) }
    const trajectory = await attempt(expert, { environment })
    expect(trajectory).toMatchObject({
      stopReason: 'environment-error',
      failure: { code: 'environment/failed', message: 'no space left' },
      finalState: null,
      nodes: [],
    })
    expect(Trajectory.parse(trajectory)).toEqual(trajectory)
  })

  it('the environment fails in a step: what came before is kept', async () => {
    const details = { code: 'environment/socket', message: 'gone', hint: 'Reconnect.' }
    const trajectory = await attempt(expert, {
      environment: environmentWith({ step: throwing(new InputError(details)) }),
    })
    expect(trajectory).toMatchObject({
      stopReason: 'environment-error',
      failure: { code: 'environment/socket', message: 'gone' },
    })
    expect(trajectory.steps.length).toBe(1)
  })

  it('the environment cannot close: there is no final state to score', async () => {
    const environment = environmentWith({ close: throwing(new Error('lost')) })
    expect(await attempt(expert, { environment })).toMatchObject({
      stopReason: 'environment-error',
      failure: { message: 'lost' },
      finalState: null,
    })
  })

  it('the first failure is the one that is kept', async () => {
    const environment = environmentWith({ close: throwing(new Error('second')) })
    const trajectory = await attempt(throwing(new Error('first')), { environment })
    expect(trajectory).toMatchObject({ stopReason: 'model-error', failure: { code: 'model/failed', message: 'first' } })
  })

  it('the sampler fails', async () => {
    const trajectory = await attempt(throwing(new TypeError('fetch failed')))
    expect(trajectory).toMatchObject({ stopReason: 'model-error', failure: { message: 'fetch failed' } })
    expect(trajectory.finalState).toEqual({ state: { answer: null, secret: 'plum' }, counts: { look: 0 } })
  })

  it('the sampler breaks its contract', async () => {
    const model = scriptedModel(expert)
    const sample = async () => [
      { tokens: [1, 2], behaviourLogprobs: [-1], logprobs: [-1, -1], stopReason: 'stop' as const },
    ]
    const trajectory = await attempt(expert, { binding: { sampler: { ...model.sampler, sample } } })
    expect(trajectory).toMatchObject({ stopReason: 'model-error', failure: { code: 'core/invariant' } })
  })

  it.each([
    ['an error', new Error('oops'), 'oops'],
    ['a string', 'oops', "'oops'"],
    ['nothing', undefined, 'undefined'],
    ['an object without a prototype', Object.create(null), '[Object: null prototype] {}'],
  ])('the agent throws %s', async (_, thrown, message) => {
    const trajectory = await attempt(expert, { agent: agentThat(throwing(thrown)) })
    expect(trajectory).toMatchObject({ stopReason: 'agent-error', failure: { code: 'agent/failed', message } })
  })

  it('a parallel branch fails: its siblings’ records are kept', async () => {
    const agent = agentThat(async (_, { model }, episode) => {
      await Promise.all([model.complete([user('fine')]), Promise.reject(new Error('one branch'))])
      return model.act([user('never')], episode)
    })
    expect((await attempt(() => ['ok'], { agent })).stopReason).toBe('agent-error')
  })
})

it('gives the agent the task’s instruction, and nothing that the checker needs', async () => {
  const seen: unknown[] = []
  await attempt(expert, {
    agent: agentThat((task, { model }, episode) => {
      seen.push(task)
      return model.act([user(task.instruction)], episode)
    }),
  })
  expect(seen).toEqual([{ id: 't', instruction: 'What is the word of t?' }])
})

it('refuses to run with a Parameter that nothing is bound to', async () => {
  const request = {
    id: TrajectoryId.parse('e0'),
    agent: actor,
    environment: wordEnvironment,
    task: wordTask('t', 'plum'),
    group: GroupId.parse('g'),
    attempt: 0,
    seed: 1,
    now: () => 0,
  }
  await expect(runEpisode({ ...request, bindings: {} })).rejects.toThrow('No weights is bound to the Parameter "model"')
  const inForce = scriptedModel(expert).binding().inForce
  const bindings = { model: { kind: 'text', inForce, value: { text: '' }, rng: rng('a') } }
  await expect(runEpisode({ ...request, bindings })).rejects.toMatchObject({ code: 'agent/unbound-parameter' })
})

it('lets an agent fork an episode that can be forked', async () => {
  const forks: string[] = []
  const environment: Environment = {
    name: 'forking',
    async open(task, seed) {
      const episode = await wordEnvironment.open(task, seed)
      const step: Episode['step'] = (action) => episode.step(action)
      const rest = { opening: episode.opening, tools: episode.tools, step, close: () => episode.close() }
      return {
        ...rest,
        fork() {
          forks.push('forked')
          return { ...rest, step: throwing(new Error('the copy failed')) }
        },
      }
    },
  }
  const agent = agentThat((task, { model }, episode) =>
    model.act([user(task.instruction)], episode.fork?.() ?? episode),
  )
  const trajectory = await attempt(expert, { environment, agent })
  expect(forks).toEqual(['forked'])
  expect(trajectory).toMatchObject({ stopReason: 'environment-error', failure: { message: 'the copy failed' } })
})

it('a branch that outlives its episode records into nothing', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let late = Promise.resolve('not asked')
  const agent = agentThat((task, { model }, episode) => {
    late = model.complete([user('slow question')])
    return model.act([user(task.instruction)], episode)
  })
  const trajectory = await attempt(
    async (prompt, request) => {
      if (prompt.includes('slow')) await held
      return expert(prompt, request)
    },
    { agent },
  )
  const before = structuredClone(trajectory)
  release()
  expect(await late).toBe('')
  expect(trajectory).toEqual(before)
})
