import { describe, expect, it } from 'vitest'
import { actor, expert } from '../../test/support/attempt.ts'
import { type Script, scriptedModel } from '../../test/support/scripted-model.ts'
import { wordEnvironment, wordTask } from '../../test/support/word-environment.ts'
import { defineAgent } from '../agent/index.ts'
import type { Environment, Task, Trajectory } from '../core/index.ts'
import { type RolloutRequest, rollout } from './rollout.ts'

const tasks: readonly Task[] = ['ant', 'bee', 'cat', 'dog'].map((word) => wordTask(word, word))

const batch = (script: Script = expert, change: Partial<RolloutRequest> = {}): Promise<readonly Trajectory[]> => {
  const model = scriptedModel(script)
  return rollout({
    agent: actor,
    environment: wordEnvironment,
    tasks,
    batch: 'b0',
    bind: ({ seed, signal }) => ({ model: model.binding({ seed, signal }) }),
    now: () => 0,
    ...change,
  })
}

const tick = (milliseconds = 0) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const ids = (trajectories: readonly Trajectory[]) => trajectories.map(({ id }) => id)
const reasons = (trajectories: readonly Trajectory[]) => trajectories.map(({ stopReason }) => stopReason)
/** Which task a prompt is about. */
const wordOf = (prompt: string) => /the word of (\w+)/.exec(prompt)?.[1] ?? ''
/** The expert, but it never comes back from these tasks. */
const hangingOn =
  (...words: string[]): Script =>
  (prompt, request) =>
    words.includes(wordOf(prompt)) ? new Promise(() => {}) : expert(prompt, request)

describe('order and names', () => {
  it('is that of tasks and attempts, whatever order episodes end in', async () => {
    const delays: Record<string, number> = { ant: 20, bee: 0, cat: 10, dog: 5 }
    const ended: string[] = []
    const slow: Script = async (prompt, request) => {
      await tick(delays[wordOf(prompt)])
      return expert(prompt, request)
    }
    const onTrajectory = ({ id }: Trajectory) => ended.push(id)
    const trajectories = await batch(slow, { attempts: 2, onTrajectory })
    const expected = tasks.flatMap(({ id }) => [`b0/${id}/0`, `b0/${id}/1`])
    expect(ids(trajectories)).toEqual(expected)
    expect(ended.toSorted()).toEqual(expected)
    expect(ended).not.toEqual(expected)
    expect(trajectories.map(({ group, attempt }) => [group, attempt]).slice(0, 3)).toEqual([
      ['b0/ant', 0],
      ['b0/ant', 1],
      ['b0/bee', 0],
    ])
  })

  it('every attempt has its own seed, which batch, task and attempt decide', async () => {
    const seeds = async (name: string, concurrency: number) =>
      (await batch(expert, { attempts: 3, batch: name, concurrency })).map(({ seed }) => seed)
    const first = await seeds('b0', 1)
    expect(new Set(first).size).toBe(12)
    expect(await seeds('b0', 12)).toEqual(first)
    expect(await seeds('b1', 1)).not.toEqual(first)
    const keyed = await batch(expert, { attempts: 3, batch: 'b1', seedKey: 'b0' })
    expect(keyed.map(({ seed }) => seed)).toEqual(first)
    expect(keyed[0]?.id).toBe('b1/ant/0')
  })

  it('repeats token for token, however many run at once (invariant 12)', async () => {
    const dice: Script = () => ['!look {}', '!look {"far":true}', '!answer {"word":"ant"}', 'hm']
    const alone = await batch(dice, { attempts: 4, concurrency: 1 })
    expect(await batch(dice, { attempts: 4, concurrency: 16 })).toEqual(alone)
    expect(new Set(alone.map(({ nodes }) => JSON.stringify(nodes.slice(1)))).size).toBeGreaterThan(4)
  })

  it('tells when each message was recorded, where it is asked to', async () => {
    let clock = 0
    const [timed] = await batch(expert, { tasks: tasks.slice(0, 1), timed: true, now: () => clock++ })
    const times = timed?.nodes.map(({ at }) => at ?? Number.NaN) ?? []
    expect(times.length).toBeGreaterThan(2)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(new Set(times).size).toBe(times.length)
    for (const { nodes } of await batch()) expect(nodes.filter((node) => 'at' in node)).toEqual([])
  })

  it('refuses a task that is in the batch twice', async () => {
    await expect(batch(expert, { tasks: [...tasks, ...tasks.slice(1, 2)] })).rejects.toMatchObject({
      code: 'rollout/duplicate-task',
      message: expect.stringContaining('"bee"'),
    })
  })

  it('of nothing is nothing', async () => {
    expect(await batch(expert, { tasks: [] })).toEqual([])
  })
})

describe('concurrency', () => {
  const watched = () => {
    const open = { now: 0, most: 0 }
    const environment: Environment = {
      name: 'watched',
      async open(task, seed) {
        open.most = Math.max(open.most, ++open.now)
        await tick()
        const episode = await wordEnvironment.open(task, seed)
        return {
          opening: episode.opening,
          tools: episode.tools,
          step: (action) => episode.step(action),
          close() {
            open.now--
            return episode.close()
          },
        }
      },
    }
    return { open, environment }
  }

  it.each([
    [1, 1],
    [3, 3],
    [100, 12],
  ])('%i episodes at once: %i are open at most', async (concurrency, most) => {
    const { open, environment } = watched()
    await batch(expert, { attempts: 3, concurrency, environment })
    expect(open).toEqual({ now: 0, most })
  })

  it('an episode that is being recorded keeps its place', async () => {
    let [recording, most] = [0, 0]
    const onTrajectory = async () => {
      most = Math.max(most, ++recording)
      await tick(1)
      recording--
    }
    await batch(expert, { attempts: 3, concurrency: 2, onTrajectory })
    expect([recording, most]).toEqual([0, 2])
  })

  it('a thousand listeners on the one signal are no leak', async () => {
    const warnings: unknown[] = []
    const warn = (warning: unknown) => warnings.push(warning)
    process.on('warning', warn)
    await batch(expert, { attempts: 64, concurrency: 256, signal: new AbortController().signal })
    await tick()
    process.off('warning', warn)
    expect(warnings).toEqual([])
  })
})

describe('resuming', () => {
  it('returns what is recorded and runs only the rest', async () => {
    const whole = await batch(expert, { attempts: 2 })
    const recorded = whole.filter((_, i) => i % 3 === 0)
    const told: string[] = []
    const resumed = await batch(expert, {
      attempts: 2,
      completed: recorded,
      onTrajectory: ({ id }) => told.push(id),
    })
    expect(resumed).toEqual(whole)
    expect(told.toSorted()).toEqual(ids(whole.filter((_, i) => i % 3 !== 0)).toSorted())
  })

  it('runs what was cancelled again: the caller stopped it', async () => {
    const [first, ...rest] = await batch()
    const cancelled = { ...first, stopReason: 'cancelled' } as Trajectory
    expect(reasons(await batch(expert, { completed: [cancelled, ...rest] }))).toEqual(['done', 'done', 'done', 'done'])
  })

  it('keeps failures: they happened', async () => {
    const [first, ...rest] = await batch()
    const failed = { ...first, stopReason: 'model-error' } as Trajectory
    expect(await batch(expert, { completed: [failed, ...rest] })).toEqual([failed, ...rest])
  })

  it('ignores trajectories of other batches, also when it counts how many have ended', async () => {
    const others = await batch(expert, { batch: 'other', attempts: 3 })
    const trajectories = await batch(expert, { completed: others, straggler: { finished: 1 } })
    expect(ids(trajectories)).toEqual(tasks.map(({ id }) => `b0/${id}/0`))
    expect(reasons(trajectories)).toEqual(['done', 'done', 'done', 'done'])
  })
})

describe('stragglers', () => {
  it('are cut once enough have ended, recorded, and say that it was not their act', async () => {
    const told: string[] = []
    const trajectories = await batch(hangingOn('bee'), {
      straggler: { finished: 0.75 },
      onTrajectory: ({ id, stopReason }) => told.push(`${id} ${stopReason}`),
    })
    expect(reasons(trajectories)).toEqual(['done', 'straggler', 'done', 'done'])
    expect(told.at(-1)).toBe('b0/bee/0 straggler')
  })

  it('that had not begun are absent', async () => {
    const trajectories = await batch(expert, { concurrency: 1, straggler: { finished: 0.5 } })
    expect(ids(trajectories)).toEqual(['b0/ant/0', 'b0/bee/0'])
  })

  it('are not begun when enough were recorded before', async () => {
    const before = (await batch()).slice(0, 3)
    expect(await batch(hangingOn('dog'), { completed: before, straggler: { finished: 0.75 } })).toEqual(before)
  })
})

describe('cancelling', () => {
  it('ends what runs, begins nothing, and tells of nothing that was cancelled', async () => {
    const controller = new AbortController()
    const told: string[] = []
    const trajectories = await batch(hangingOn('bee', 'cat'), {
      concurrency: 3,
      signal: controller.signal,
      onTrajectory: ({ id }) => {
        told.push(id)
        if (id === 'b0/dog/0') controller.abort()
      },
    })
    expect(reasons(trajectories)).toEqual(['done', 'cancelled', 'cancelled', 'done'])
    expect(told.toSorted()).toEqual(['b0/ant/0', 'b0/dog/0'])
  })

  it('before it begins: nothing', async () => {
    expect(await batch(expert, { signal: AbortSignal.abort() })).toEqual([])
  })

  it('by the caller is no straggling, even with a cut', async () => {
    const controller = new AbortController()
    const trajectories = batch(hangingOn('ant', 'bee', 'cat', 'dog'), {
      signal: controller.signal,
      straggler: { finished: 0.5 },
    })
    await tick()
    controller.abort()
    expect(reasons(await trajectories)).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled'])
  })
})

describe('failures', () => {
  const failingOn = (word: string): Environment => ({
    name: 'flaky',
    open(task, seed) {
      if (task.id === word) throw new Error('no room')
      return wordEnvironment.open(task, seed)
    },
  })

  it('of environments, models and agents are data; the others go on', async () => {
    expect(reasons(await batch(expert, { environment: failingOn('bee') }))).toEqual([
      'done',
      'environment-error',
      'done',
      'done',
    ])
    const flaky: Script = (prompt, request) => {
      if (wordOf(prompt) === 'cat') throw new Error('out of memory')
      return expert(prompt, request)
    }
    expect(reasons(await batch(flaky))).toEqual(['done', 'done', 'model-error', 'done'])
    const agent = defineAgent({
      ...actor,
      run: (task, handles, episode) =>
        task.id === 'dog' ? Promise.reject(new Error('bug')) : actor.run(task, handles, episode),
    })
    expect(reasons(await batch(expert, { agent }))).toEqual(['done', 'done', 'done', 'agent-error'])
  })

  it('of the caller reject, only once nothing runs any more', async () => {
    const told: string[] = []
    const failing = batch(hangingOn('bee'), {
      onTrajectory: async ({ id }) => {
        told.push(id)
        await tick()
        if (id === 'b0/cat/0') throw new Error('disk full')
      },
    })
    await expect(failing).rejects.toThrow('disk full')
    const then = [...told]
    await tick(5)
    expect(told).toEqual(then)
    expect(told).not.toContain('b0/bee/0')
  })

  it('of binding reject too', async () => {
    await expect(batch(expert, { bind: () => ({}) })).rejects.toMatchObject({ code: 'agent/unbound-parameter' })
  })
})
