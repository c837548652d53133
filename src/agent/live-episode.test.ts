import { describe, expect, it } from 'vitest'
import { actor, attempt, expert } from '../../test/support/attempt.ts'
import { scriptedModel, type Script } from '../../test/support/scripted-model.ts'
import { wordTask } from '../../test/support/word-environment.ts'
import {
  type Action,
  type Environment,
  type Episode,
  GroupId,
  Trajectory,
  TrajectoryId,
  upstreamOf,
} from '../core/index.ts'
import { type Agent, defineAgent } from './agent.ts'
import { user, weights } from './parameters.ts'
import { runEpisode } from './run-episode.ts'

const parameters = { model: weights({ base: 'scripted' }) }
const agentThat = (run: Agent<typeof parameters>['run']) => defineAgent({ name: 'agent', parameters, run })
const done = { stopReason: 'done', message: null } as const
const say = (content: string): Action => ({ kind: 'message', content })

/** Keeps what was said to it; ends by "end". Tells which of its episodes were closed. */
function notebook(): { readonly environment: Environment; readonly closed: string[] } {
  const closed: string[] = []
  const episode = (notes: readonly string[]): Episode => {
    let own = notes
    return {
      opening: [],
      tools: [],
      step(action) {
        if (action.kind === 'message') own = [...own, action.content]
        return { messages: [{ role: 'user', content: 'noted' }], done: own.at(-1) === 'end' }
      },
      close() {
        closed.push(own.join())
        return { state: [...own], counts: {} }
      },
      fork: () => episode(own),
    }
  }
  return { environment: { name: 'notebook', open: () => episode([]) }, closed }
}

const saying: Script = (prompt) => [/user: (\w+)/.exec(prompt)?.[1] ?? '']

describe('an agent forks its episode', () => {
  const search = (chosen: number) =>
    agentThat(async (_, { model }, episode) => {
      await episode.step(say(await model.complete([user('begin')])))
      const tries = await Promise.all(
        ['left', 'right'].map(async (way) => {
          const fork = episode.fork?.() ?? episode
          await fork.step(say(await model.complete([user(way)])))
          return fork
        }),
      )
      tries[chosen]?.choose()
      return done
    })

  it.each([
    [0, ['begin', 'left']],
    [1, ['begin', 'right']],
  ])('and the final state of the chosen one is verified: %i', async (chosen, state) => {
    const { environment, closed } = notebook()
    const trajectory = await attempt(saying, { environment, agent: search(chosen) })
    expect(Trajectory.parse(trajectory)).toEqual(trajectory)
    expect(trajectory.finalState?.state).toEqual(state)
    // Each once, discarded ones included.
    expect(closed.toSorted()).toEqual(['begin', 'begin,left', 'begin,right'])
  })

  it('and the outcome was built from what was done to that one', async () => {
    const { environment } = notebook()
    const trajectory = await attempt(saying, { environment, agent: search(1) })
    const { decisions, nodes } = trajectory
    const upstream = upstreamOf(trajectory.outcome?.inputs ?? [], trajectory)
    const words = decisions.flatMap(({ id, output }) =>
      upstream.has(id) ? [nodes.find((node) => node.id === output)?.message.content] : [],
    )
    expect(words).toEqual(['begin', 'right'])
  })

  it('and chooses none: the one that it was given counts', async () => {
    const { environment } = notebook()
    expect((await attempt(saying, { environment, agent: search(2) })).finalState?.state).toEqual(['begin'])
  })

  it('and goes back: the last choice counts', async () => {
    const { environment } = notebook()
    const agent = agentThat(async (_, __, episode) => {
      episode.fork?.().choose()
      await episode.step(say('back'))
      episode.choose()
      return done
    })
    expect((await attempt(saying, { environment, agent })).finalState?.state).toEqual(['back'])
  })

  it('and acts in forks that get equal answers: each is told from the other', async () => {
    const { environment } = notebook()
    const agent = agentThat(async (_, { model }, episode) => {
      const forks = [episode.fork?.() ?? episode, episode.fork?.() ?? episode]
      await Promise.all(forks.map((fork, i) => model.act([user('end'), user(`of ${i}`)], fork)))
      forks[1]?.choose()
      return done
    })
    const trajectory = await attempt(() => ['end'], { environment, agent })
    expect(trajectory.finalState?.state).toEqual(['end'])
    expect(upstreamOf(trajectory.outcome?.inputs ?? [], trajectory).size).toBe(1)
  })

  it('and a discarded one that cannot be closed is no failure; the chosen one is', async () => {
    const broken = (chosen: boolean) =>
      agentThat(async (_, __, episode) => {
        const fork = episode.fork?.()
        if (chosen) fork?.choose()
        return done
      })
    const environment: Environment = {
      name: 'frail',
      open: () => ({
        opening: [],
        tools: [],
        step: () => ({ messages: [], done: false }),
        close: () => ({ state: 'whole', counts: {} }),
        fork: () => ({
          opening: [],
          tools: [],
          step: () => ({ messages: [], done: false }),
          close: () => {
            throw new Error('torn')
          },
        }),
      }),
    }
    expect(await attempt(saying, { environment, agent: broken(false) })).toMatchObject({
      stopReason: 'done',
      finalState: { state: 'whole' },
    })
    expect(await attempt(saying, { environment, agent: broken(true) })).toMatchObject({
      stopReason: 'environment-error',
      failure: { message: 'torn' },
    })
  })
})

describe('rewards of steps', () => {
  const paying = (...rewards: readonly (number | null | undefined)[]): Environment => ({
    name: 'paying',
    open() {
      let at = 0
      return {
        opening: [],
        tools: [],
        step() {
          const reward = rewards[at++]
          const outcome = { messages: [], done: at === rewards.length }
          return reward === undefined ? outcome : { ...outcome, reward }
        },
        close: () => ({ state: null, counts: {} }),
      }
    },
  })

  it('are kept with the Step that earned them; a missing one is null, never 0', async () => {
    const { steps } = await attempt(() => ['again'], { environment: paying(0.5, null, undefined, -1) })
    expect(steps.map(({ reward }) => reward)).toEqual([0.5, null, undefined, -1])
  })

  it('that an agent’s own steps earn are those of the decision behind them, and add up', async () => {
    const agent = agentThat(async (_, { model }, episode) => {
      const said = await model.complete([user('go')])
      await model.complete([user('idle')])
      await episode.step(say(said))
      await episode.step(say(said))
      return done
    })
    const { steps } = await attempt(saying, { environment: paying(1, 2), agent })
    expect(steps.map(({ reward }) => reward)).toEqual([3, undefined])
  })

  it('that are no numbers are the environment’s failure', async () => {
    expect(await attempt(() => ['again'], { environment: paying(Number.NaN) })).toMatchObject({
      stopReason: 'environment-error',
      failure: { code: 'agent/bad-step-reward' },
    })
  })
})

describe('an environment that waits', () => {
  /** Waits in `open` or in `step` until nobody wants it any more. */
  const waiting = (where: 'open' | 'step', began: () => void): Environment => {
    const wait = (signal: AbortSignal | undefined) =>
      new Promise<never>((_, reject) => {
        began()
        if (signal === undefined) reject(new Error('no signal'))
        signal?.addEventListener('abort', () => reject(new Error('gave up')))
      })
    return {
      name: 'waiting',
      open: (_task, _seed, signal) =>
        where === 'open'
          ? wait(signal)
          : {
              opening: [],
              tools: [],
              step: (_action, own) => wait(own),
              close: () => ({ state: 'closed', counts: {} }),
            },
    }
  }

  it.each(['open', 'step'] as const)('in %s is told that the episode was cancelled', async (where) => {
    const controller = new AbortController()
    const model = scriptedModel(expert)
    const trajectory = await runEpisode({
      id: TrajectoryId.parse('e0'),
      agent: actor,
      environment: waiting(where, () => setTimeout(() => controller.abort(), 0)),
      task: wordTask('t', 'plum'),
      group: GroupId.parse('g'),
      attempt: 0,
      seed: 1,
      bindings: { model: model.binding() },
      now: () => 0,
      signal: controller.signal,
    })
    expect(trajectory).toMatchObject({ stopReason: 'cancelled', failure: null })
    expect(trajectory.finalState).toEqual(where === 'open' ? null : { state: 'closed', counts: {} })
  })

  it('longer than the budget’s time is told so', async () => {
    const budget = { turns: 8, tokens: 99, tokensPerTurn: 9, malformedCalls: 1, toolErrors: 1, seconds: 0.02 }
    const trajectory = await attempt(expert, {
      environment: waiting('step', () => {}),
      binding: { budget },
      now: () => performance.now(),
    })
    expect(trajectory).toMatchObject({ stopReason: 'time-budget', failure: null })
  })
})

describe('what a program does by itself', () => {
  const steps = (...actions: Action[]) =>
    defineAgent({
      name: 'program',
      parameters: {},
      async run(_, __, episode) {
        for (const action of actions) await episode.step(action)
        return done
      },
    })
  const messagesOf = ({ nodes }: Trajectory) => nodes.map(({ message }) => message)

  it('is recorded, as its environment saw it, and no step of any policy', async () => {
    const call = { name: 'note', arguments: { text: 'a' } }
    const agent = steps({ kind: 'calls', calls: [call] }, say('end'))
    const trajectory = await attempt(saying, { environment: notebook().environment, agent })
    expect(Trajectory.parse(trajectory)).toEqual(trajectory)
    expect(messagesOf(trajectory)).toEqual([
      { role: 'assistant', content: '', toolCalls: [call] },
      { role: 'user', content: 'noted' },
      { role: 'assistant', content: 'end' },
      { role: 'user', content: 'noted' },
    ])
    expect(trajectory.nodes.map(({ parent }) => parent)).toEqual([null, 'n0', 'n1', 'n2'])
    expect(trajectory).toMatchObject({ steps: [], decisions: [], stopReason: 'done' })
  })

  it('is that of the fork that it chose', async () => {
    const agent = defineAgent({
      name: 'program',
      parameters: {},
      async run(_, __, episode) {
        await episode.step(say('begin'))
        const fork = episode.fork?.()
        await episode.step(say('left'))
        await fork?.step(say('right'))
        fork?.choose()
        return done
      },
    })
    const trajectory = await attempt(saying, { environment: notebook().environment, agent })
    const said = messagesOf(trajectory).filter(({ role }) => role === 'assistant')
    expect(said.map(({ content }) => content)).toEqual(['begin', 'right'])
  })

  it('is left out where no record can hold it', async () => {
    const hostile = { kind: 'message', content: 12n } as unknown as Action
    const trajectory = await attempt(saying, { environment: notebook().environment, agent: steps(hostile) })
    expect(trajectory).toMatchObject({ nodes: [], stopReason: 'done' })
  })
})
