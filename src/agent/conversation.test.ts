import { describe, expect, it } from 'vitest'
import { type AttemptOptions, attempt, expert } from '../../test/support/attempt.ts'
import { readBy } from '../../test/support/read-by.ts'
import { type Script, scriptedModel } from '../../test/support/scripted-model.ts'
import { wordEnvironment, wordTask } from '../../test/support/word-environment.ts'
import {
  branches,
  type Environment,
  GroupId,
  type Message,
  type NearestParams,
  rng,
  type SampleRequest,
  Trajectory,
  TrajectoryId,
  VersionId,
} from '../core/index.ts'
import { type Agent, defineAgent } from './agent.ts'
import { text, user, weights } from './parameters.ts'
import { runEpisode } from './run-episode.ts'

const parameters = { model: weights({ base: 'scripted' }), system: text('') }
const agentThat = (run: Agent<typeof parameters>['run']) => defineAgent({ name: 'agent', parameters, run })
const done = { stopReason: 'done', message: null } as const

/** Runs an agent with a scripted model and a text, and gives back what the sampler was asked. */
async function run(
  agent: Agent<typeof parameters>,
  script: Script,
  environment: Environment = wordEnvironment,
): Promise<{ trajectory: Trajectory; requests: readonly SampleRequest[] }> {
  const model = scriptedModel(script)
  const trajectory = await runEpisode({
    id: TrajectoryId.parse('e0'),
    agent,
    environment,
    task: wordTask('t', 'plum'),
    group: GroupId.parse('g'),
    attempt: 0,
    seed: 1,
    bindings: {
      model: model.binding(),
      system: {
        kind: 'text',
        value: { text: 'Be brief.' },
        rng: rng('system'),
        inForce: { version: VersionId.parse('s1'), generation: 3, checkpoint: null },
      },
    },
    now: () => 0,
  })
  expect(Trajectory.parse(trajectory)).toEqual(trajectory)
  return { trajectory, requests: model.requests }
}

/** The tokens along the branch that ends in this node, up to and without what was sampled there. */
function readBefore({ nodes }: Trajectory, leaf: string): readonly number[] {
  const byId = new Map<string, Trajectory['nodes'][number]>(nodes.map((node) => [node.id, node]))
  const path: Trajectory['nodes'] = []
  for (let id: string | null = leaf; id !== null; id = byId.get(id)?.parent ?? null) {
    const node = byId.get(id)
    if (node) path.unshift(node)
  }
  return path.flatMap(({ id, spans }) =>
    spans.filter(({ kind }) => id !== leaf || kind === 'encoded').flatMap(({ tokens }) => tokens),
  )
}

/** Invariant 2: along each branch, the recorded tokens are exactly what the policy read. */
function expectTokensAsRead(trajectory: Trajectory, requests: readonly SampleRequest[]) {
  const prompts = trajectory.steps.map(({ action }) => readBefore(trajectory, action).join())
  expect(prompts.toSorted()).toEqual(requests.map(({ prompt }) => prompt.join()).toSorted())
}

describe('the tokens of a branch are what the policy read and wrote', () => {
  it('over several turns', async () => {
    const { trajectory, requests } = await run(
      agentThat((task, { model, system }, episode) => model.act([system.message(), user(task.instruction)], episode)),
      expert,
    )
    expectTokensAsRead(trajectory, requests)
    expect(branches(trajectory).length).toBe(1)
    // The prompt was read once more in the second turn, but it was decided once.
    expect(trajectory.steps.map(({ decisions }) => decisions)).toEqual([['d0', 'd1'], ['d2']])
  })

  it('when a conversation goes on from a history that another one began', async () => {
    const { trajectory, requests } = await run(
      agentThat(async (task, { model, system }) => {
        const history: Message[] = [system.message(), user(task.instruction)]
        const draft = await model.complete(history)
        await model.complete([...history, { role: 'assistant', content: draft }, user('Are you sure?')])
        await model.complete(history)
        return done
      }),
      (prompt) => [prompt.includes('sure') ? 'quite sure' : 'a plum'],
    )
    expectTokensAsRead(trajectory, requests)
    expect(branches(trajectory).length).toBe(3)
  })

  it('when an environment answers with nothing', async () => {
    const silent: Environment = {
      name: 'silent',
      async open(task, seed) {
        const episode = await wordEnvironment.open(task, seed)
        let steps = 0
        return {
          opening: [],
          tools: episode.tools,
          step: async (action) => (steps++ < 2 ? { messages: [], done: false } : episode.step(action)),
          close: () => episode.close(),
        }
      },
    }
    const { trajectory, requests } = await run(
      agentThat((task, { model }, episode) => model.act([user(task.instruction)], episode)),
      expert,
      silent,
    )
    expect(requests.length).toBeGreaterThan(2)
    expectTokensAsRead(trajectory, requests)
  })

  it('when a conversation opens with nothing', async () => {
    const { trajectory, requests } = await run(
      agentThat(async (_, { model }) => {
        await model.complete([])
        return done
      }),
      () => ['hello'],
    )
    expectTokensAsRead(trajectory, requests)
  })

  it('when a turn was cut off before its end', async () => {
    const options: AttemptOptions = {
      binding: { budget: { turns: 3, tokens: 100, tokensPerTurn: 4, malformedCalls: 9, toolErrors: 9 } },
    }
    const trajectory = await attempt(() => ['!look {} \n and more'], options)
    expect(trajectory.stopReason).toBe('turn-budget')
    const spans = branches(trajectory).flatMap((path) => path.flatMap((node) => node.spans))
    expect(spans.filter(({ kind }) => kind === 'sampled').map(({ tokens }) => tokens.length)).toEqual([4, 4, 4])
    // The environment's next span closes the turn that the policy left open: it begins with the end token.
    expect(spans[2]?.tokens[0]).toBe(0)
  })
})

describe('parallel branches', () => {
  const ask = agentThat(async (task, { model, system }) => {
    const shared = system.message()
    await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(() => model.complete([shared, user(task.instruction)])))
    return done
  })
  const dice: Script = () => ['one', 'two', 'three', 'four', 'five', 'six']

  it('that ask the same get independent answers, and the same ones when the episode is repeated', async () => {
    const answers = async () => {
      const { trajectory } = await run(ask, dice)
      return trajectory.steps.map(({ action }) => trajectory.nodes.find(({ id }) => id === action)?.message.content)
    }
    const first = await answers()
    expect(new Set(first).size).toBeGreaterThan(1)
    expect(await answers()).toEqual(first)
  })

  it('share the history that they have in common, and decide for themselves', async () => {
    const { trajectory, requests } = await run(ask, dice)
    expect(trajectory.nodes.filter(({ message }) => message.role === 'system').length).toBe(1)
    expect(branches(trajectory).length).toBe(8)
    expect(trajectory.steps.length).toBe(8)
    expectTokensAsRead(trajectory, requests)
    for (const decision of trajectory.decisions) {
      if (decision.kind !== 'weights') continue
      const path = branches(trajectory).find((branch) => branch.at(-1)?.id === decision.output)
      expect(readBy(decision, trajectory)).toEqual(path?.slice(0, -1))
    }
  })

  it('each keep their own texts with their own step', async () => {
    const { trajectory } = await run(
      agentThat(async (_, { model, system }) => {
        await Promise.all(['slow', 'fast'].map((question) => model.complete([system.message(), user(question)])))
        return done
      }),
      async (prompt) => {
        if (prompt.includes('slow')) await new Promise((resolve) => setTimeout(resolve, 5))
        return [prompt.includes('slow') ? 'tortoise' : 'hare']
      },
    )
    const { steps, decisions, nodes } = trajectory
    expect(steps.map(({ action }) => nodes.find(({ id }) => id === action)?.message.content)).toEqual([
      'hare',
      'tortoise',
    ])
    for (const { index, decisions: made } of steps) {
      expect(made.length).toBe(2)
      const [reading, acting] = made.map((id) => decisions.find((decision) => decision.id === id))
      expect([reading?.step, acting?.step]).toEqual([index, index])
      expect(readBy(acting!, trajectory).map(({ id }) => id)).toContain(reading?.output)
    }
  })
})

it('a sub-agent’s decisions are part of the episode, under its own Parameter', async () => {
  const parameters = { model: weights({ base: 'scripted' }), critic: weights({ base: 'scripted' }) }
  const review = async (critic: { complete(messages: readonly Message[]): Promise<string> }, draft: string) =>
    critic.complete([user(`Is ${draft} right?`)])
  const agent = defineAgent({
    name: 'team',
    parameters,
    async run(task, { model, critic }) {
      const draft = await model.complete([user(task.instruction)])
      await review(critic, draft)
      return done
    },
  })
  const model = scriptedModel((prompt) => [prompt.includes('right') ? 'yes' : 'plum'])
  const { decisions, steps } = await runEpisode({
    id: TrajectoryId.parse('e0'),
    agent,
    environment: wordEnvironment,
    task: wordTask('t', 'plum'),
    group: GroupId.parse('g'),
    attempt: 0,
    seed: 1,
    bindings: {
      model: model.binding(),
      critic: model.binding({ inForce: { version: VersionId.parse('c7'), generation: 2, checkpoint: 5 } }),
    },
    now: () => 0,
  })
  expect(
    decisions.map(({ parameter, version, generation, checkpoint }) => [parameter, version, generation, checkpoint]),
  ).toEqual([
    ['model', 'v0', 1, null],
    ['critic', 'c7', 2, 5],
  ])
  expect(steps.map((step) => step.decisions)).toEqual([['d0'], ['d1']])
})

const nearest = (weight: number): NearestParams => ({
  datastore: { kind: 'datastore', id: 'd' },
  weight,
  neighbours: 8,
  temperature: 10,
})

describe('what a policy call records', () => {
  it('the behaviour log-probabilities, their sum as the propensity, and how it was drawn', async () => {
    const trajectory = await attempt(() => ['!look {}', '!look {"far":true}', '!answer {"word":"plum"}'])
    const [first] = trajectory.decisions
    const node = trajectory.nodes.find(({ id }) => id === first?.output)
    const [span] = node?.spans ?? []
    if (span?.kind !== 'sampled' || !span.behaviourLogprobs) throw new Error('nothing was sampled')
    const sum = span.behaviourLogprobs.reduce((total, lp) => total + lp, 0)
    // One of three equally likely options.
    expect(sum).toBeCloseTo(Math.log(1 / 3), 12)
    expect(first?.propensity).toEqual({ log: sum })
    expect(span.sampling).toEqual({ temperature: 1, truncated: false })
  })

  it.each([
    [{ temperature: 0.7 }, { temperature: 0.7, truncated: false }],
    [{ topK: 5 }, { temperature: 1, truncated: true }],
    [{ topP: 0.9 }, { temperature: 1, truncated: true }],
    [{ topP: 1 }, { temperature: 1, truncated: false }],
    [{ nearest: nearest(0.3) }, { temperature: 1, truncated: true }],
    [{ nearest: nearest(0) }, { temperature: 1, truncated: false }],
  ])('%j is recorded as %j', async (sampling, recorded) => {
    const { nodes } = await attempt(expert, { binding: { sampling } })
    for (const { spans } of nodes) {
      for (const span of spans) if (span.kind === 'sampled') expect(span.sampling).toEqual(recorded)
    }
  })
})

it('Parameters work only inside an episode', async () => {
  let model: { complete(messages: readonly Message[]): Promise<string> } | null = null
  let system: { message(): Message } | null = null
  await run(
    agentThat((_, handles) => {
      model = handles.model
      system = handles.system
      return Promise.resolve(done)
    }),
    () => [''],
  )
  const [leakedModel, leakedSystem] = [model, system] as unknown as [
    { complete(messages: readonly Message[]): Promise<string> },
    { message(): Message },
  ]
  await expect(leakedModel.complete([])).rejects.toThrow('outside an episode')
  expect(() => leakedSystem.message()).toThrow('outside an episode')
})
