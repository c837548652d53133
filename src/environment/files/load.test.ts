import { describe, expect, it } from 'vitest'
import { Split, Task, type ToolCall } from '../../core/index.ts'
import { nullPolicy } from '../null-policy.ts'
import { type Policy, play, scorePolicy } from '../play.ts'
import { fullPath } from './path.ts'
import { loadFiles } from './load.ts'
import { filesConstant, filesExpert, filesFirstLine, filesIgnoresKeep, filesWrongKey } from './policies.ts'
import { readFilesTask } from './task-data.ts'
import { filesProgress, filesVerify } from './verify.ts'
import { keys, shelves } from './words.ts'

const { environment, tasks } = loadFiles()
const strata = Split.options.flatMap((split) =>
  ['short', 'long', 'reworded']
    .map((tier) => ({ split, tier, those: tasks[split].filter((task) => task.tier === tier) }))
    .filter(({ those }) => those.length > 0),
)
const instructions = (split: Split) => tasks[split].map(({ instruction }) => instruction)

describe('the jobs', () => {
  it('are as many as asked for, well-formed and distinct', () => {
    expect(strata.map(({ split, tier, those }) => [split, tier, those.length])).toEqual([
      ['train', 'short', 512],
      ['train', 'long', 512],
      ['validation', 'short', 100],
      ['validation', 'long', 100],
      ['holdout', 'short', 200],
      ['holdout', 'long', 200],
      ['holdout', 'reworded', 200],
    ])
    const all = strata.flatMap(({ those }) => those.map((task: Task) => Task.parse(task)))
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  })

  it('depend on the seed and on nothing else', () => {
    const few = { train: 40, validation: 10, holdout: 10 }
    expect(loadFiles({ seed: 1, tasks: few }).tasks).toEqual(loadFiles({ seed: 1, tasks: few }).tasks)
    expect(loadFiles({ seed: 2, tasks: few }).tasks).not.toEqual(loadFiles({ seed: 1, tasks: few }).tasks)
  })

  it('name no note and no result of another split', () => {
    const wordsIn = (split: Split) =>
      new Set(
        tasks[split].flatMap((task) => {
          const { files, changes } = readFilesTask(task)
          const result = changes['inbox/result']
          return [...Object.keys(files).map((path) => path.split('/')[1]), ...(result == null ? [] : [result])]
        }),
      )
    const [train, validation, holdout] = Split.options.map(wordsIn) as [Set<string>, Set<string>, Set<string>]
    expect([...train].filter((word) => validation.has(word) || holdout.has(word))).toEqual([])
    expect([...validation].filter((word) => holdout.has(word))).toEqual([])
    expect(Math.min(train.size, validation.size, holdout.size)).toBeGreaterThan(20)
    for (const word of [...keys, ...shelves, 'keep', 'archive', 'inbox', 'result'])
      expect(train.has(word) || holdout.has(word)).toBe(false)
  })

  it('are asked for in at least eight wordings, and in at least three that training never shows', () => {
    const families = (some: readonly Task[]) => new Set(some.map(({ family }) => family))
    const seen = families(tasks.train)
    const reworded = families(tasks.holdout.filter(({ tier }) => tier === 'reworded'))
    expect(seen.size).toBeGreaterThanOrEqual(8)
    expect(reworded.size).toBeGreaterThanOrEqual(3)
    expect([...reworded].filter((family) => seen.has(family))).toEqual([])
    expect(families(tasks.train.slice(0, 100))).toEqual(seen)
  })

  it('name keys and notes after a space, and say nothing of what is kept', () => {
    for (const task of tasks.train) {
      const { job } = readFilesTask(task)
      expect(` ${task.instruction}`).toContain(` ${job.key}`)
      if (job.kind === 'trail') expect(task.instruction).toContain(` ${job.start}`)
    }
    expect(instructions('train').filter((words) => words.includes('keep'))).toEqual([])
  })

  it.each(strata)('take 8 to 20 calls, as the tier $tier of $split says', async ({ tier, those }) => {
    const lengths = new Set<number>()
    for (const task of those) lengths.add((await play(environment, filesExpert, task, filesVerify)).actions.length)
    const [fewest, most] = tier === 'short' ? [8, 11] : tier === 'long' ? [12, 20] : [8, 20]
    const all = Array.from({ length: most - fewest + 1 }, (_, at) => fewest + at)
    expect([...lengths].sort((a, b) => a - b)).toEqual(all)
  })

  it('show little at a time: few words an observation, and short commands', async () => {
    for (const task of tasks.holdout) {
      const { messages, finalState } = await play(environment, filesExpert, task, filesVerify)
      for (const message of messages.slice(1)) {
        expect(message.content.split(/\s+/).length, message.content).toBeLessThanOrEqual(10)
        for (const argument of Object.values((message as { toolCalls?: ToolCall[] }).toolCalls?.[0]?.arguments ?? {}))
          expect(argument).toMatch(/^\S+( \S+)?$/)
      }
      for (const path of Object.keys((finalState.state as { files: object }).files)) expect(path).toMatch(fullPath)
    }
  })
})

describe('scripted policies', () => {
  const share = async (policy: Policy, those: readonly Task[]) => {
    const { n, successes } = await scorePolicy(environment, policy, those, filesVerify)
    return successes / n
  }

  it.each(strata)('solve every job of $split $tier as experts, none by doing nothing', async ({ those }) => {
    expect(await share(filesExpert, those)).toBe(1)
    expect(await share(nullPolicy, those)).toBe(0)
  })

  it.each(strata)('seldom solve $split $tier carelessly', async ({ those }) => {
    expect(await share(filesFirstLine, those)).toBeLessThan(0.3)
    expect(await share(filesWrongKey, those)).toBe(0)
    expect(await share(filesIgnoresKeep, those)).toBe(0)
    expect(await share(filesConstant, those)).toBeLessThan(0.2)
  })

  it('come further the more they do right, and the expert never goes back', async () => {
    for (const task of tasks.validation) {
      const { actions } = await play(environment, filesExpert, task, filesVerify)
      const episode = environment.open(task, 0)
      const progress = [filesProgress(episode.close())]
      for (const action of actions) {
        episode.step(action)
        progress.push(filesProgress(episode.close()))
      }
      expect(progress).toEqual(progress.toSorted((a, b) => a - b))
      expect([progress[0], progress.at(-1)]).toEqual([0, 1])
      expect(new Set(progress).size).toBeGreaterThan(3)
      expect(progress.slice(0, -1).every((each) => each < 1)).toBe(true)
      const careless = await play(environment, filesIgnoresKeep, task, filesVerify)
      expect(filesProgress(careless.finalState)).toBeLessThan(1)
    }
  })
})
