import { describe, expect, it } from 'vitest'
import { wordEnvironment, wordTask } from '../../../test/support/word-environment.ts'
import { type Environment, Task } from '../../core/index.ts'
import { formsExpert, formsVerify, loadForms } from '../forms/index.ts'
import { houseExpert, houseVerify, loadHouse } from '../house/index.ts'
import { nullPolicy } from '../null-policy.ts'
import { play, scorePolicy } from '../play.ts'
import { mixed } from './mixed.ts'

const few = { tasks: { train: 4, validation: 2, holdout: 2 } }
const house = loadHouse(few)
const both = mixed({ house, forms: loadForms(few) })
const expert = both.policy({ house: houseExpert, forms: formsExpert })
const check = both.check({ house: houseVerify, forms: formsVerify })

describe('several worlds as one', () => {
  it('have the tasks of all, with the name of the world before ids, tiers and families', () => {
    const own = house.tasks.train[0]!
    const [first] = both.tasks
    expect(first).toMatchObject({ id: `house/${own.id}`, tier: `house/${own.tier}`, family: `house/${own.family}` })
    expect(first).toMatchObject({ split: 'train', instruction: own.instruction })
    expect(new Set(both.tasks.map((task) => Task.parse(task).id)).size).toBe(both.tasks.length)
    expect(new Set(both.tasks.map(({ tier }) => tier))).toEqual(
      new Set(['house/short', 'house/long', 'house/reworded', 'forms/short', 'forms/long', 'forms/reworded']),
    )
  })

  it('give back each task as its own world gave it', () => {
    const all = [...house.tasks.train, ...house.tasks.validation, ...house.tasks.holdout]
    const given = both.tasks.map((task) => both.inWorld(task))
    expect(given.filter(({ world }) => world === 'house').map(({ task }) => task)).toEqual(all)
  })

  it('keep what a task leaves out, and a task that is asked in other words', () => {
    const bare = mixed({ word: { environment: wordEnvironment, tasks: [wordTask('a', 'plum')] } })
    const [task] = bare.tasks
    expect(task).toMatchObject({ tier: 'word' })
    expect(task).not.toHaveProperty('family')
    expect(bare.inWorld(task!).task).toEqual(wordTask('a', 'plum'))
    expect(bare.inWorld({ ...task!, instruction: 'Its word?' }).task.instruction).toBe('Its word?')
  })

  it('show the tools of the world that the task is of', async () => {
    const toolsOf = async (world: string) => {
      const task = both.tasks.find(({ id }) => id.startsWith(`${world}/`))!
      return (await both.environment.open(task, 0)).tools.map(({ name }) => name)
    }
    expect(await toolsOf('house')).toContain('unlock')
    expect(await toolsOf('forms')).toContain('lookup')
    expect(await toolsOf('forms')).not.toContain('unlock')
  })

  it('are done by the experts of each, and by nobody who does nothing', async () => {
    const n = both.tasks.length
    expect(await scorePolicy(both.environment, expert, both.tasks, check)).toEqual({ n, successes: n })
    expect(await scorePolicy(both.environment, nullPolicy, both.tasks, check)).toEqual({ n, successes: 0 })
  })

  it('give demonstrations that name the task of the mixture', async () => {
    const task = both.tasks.at(-1)!
    const { task: shown, finalState, success } = await play(both.environment, expert, task, check)
    expect(shown).toBe(task)
    expect(success).toBe(true)
    expect(finalState.state).toMatchObject({ world: 'forms' })
  })

  it('have a checker whose name tells it from another', () => {
    expect(check.name).toBe('house:houseVerify+forms:formsVerify')
    expect(() => check({ state: { answer: 1 }, counts: {} })).toThrow(
      expect.objectContaining({ code: 'environment/unknown-world' }),
    )
  })

  it('open a task that comes from elsewhere by its data alone', async () => {
    const { data, instruction } = both.tasks[0]!
    const session = Task.parse({ id: 'session-1', instruction, data, split: 'train' })
    expect(await (await both.environment.open(session, 0)).close()).toMatchObject({ state: { world: 'house' } })
  })

  it('hand on the seed, the signal, step rewards and copies', async () => {
    const { signal } = new AbortController()
    const seen: unknown[] = []
    const episode = (copies: number): ReturnType<Environment['open']> => ({
      opening: [],
      tools: [],
      step: (_, given) => ({ messages: [], done: given === signal, reward: 0.5 }),
      close: () => ({ state: copies, counts: { copies } }),
      fork: () => episode(copies + 1) as never,
    })
    const environment: Environment = {
      name: 'seen',
      open: (_, ...given) => {
        seen.push(given)
        return episode(0)
      },
    }
    const one = mixed({ seen: { environment, tasks: [wordTask('a', 'plum')] } })
    const opened = await one.environment.open(one.tasks[0]!, 7, signal)
    expect(seen).toEqual([[7, signal]])
    expect(await opened.step({ kind: 'calls', calls: [] }, signal)).toEqual({ messages: [], done: true, reward: 0.5 })
    expect(await opened.fork!().fork!().close()).toEqual({ state: { world: 'seen', state: 2 }, counts: { copies: 2 } })
    const mute = mixed({ word: { environment: wordEnvironment, tasks: [wordTask('a', 'plum')] } })
    expect(await mute.environment.open(mute.tasks[0]!, 0)).not.toHaveProperty('fork')
  })
})

describe('are refused', () => {
  const word = { environment: wordEnvironment, tasks: [wordTask('a', 'plum')] }
  it.each([
    ['without any world', () => mixed({}), 'environment/bad-world'],
    ['with a world whose name has a slash', () => mixed({ 'a/b': word }), 'environment/bad-world'],
    [
      'with a task whose id gets too long',
      () => mixed({ word: { ...word, tasks: [wordTask('a'.repeat(255), 'plum')] } }),
      'environment/bad-world',
    ],
    [
      'with a task of another world',
      () => mixed({ word }).inWorld({ ...wordTask('a', 'plum'), data: { world: 'toString', data: null } }),
      'environment/unknown-world',
    ],
    ['with a task of none', () => mixed({ word }).inWorld(wordTask('a', 'plum')), 'environment/unknown-world'],
  ])('%s', (_, act, code) => {
    expect(act).toThrow(expect.objectContaining({ code }))
  })

  it('and a world that fails says so itself', async () => {
    const tasks = [{ ...wordTask('a', 'plum'), data: { no: 'house' } }]
    const { environment, tasks: own } = mixed({ house: { environment: house.environment, tasks } })
    await expect(async () => environment.open(own[0]!, 0)).rejects.toMatchObject({
      code: 'environment/malformed-house-task',
    })
  })
})
