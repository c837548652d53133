import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Crash, crashingStore } from '../../../../test/support/crashing-store.ts'
import { type ReaderChanges, readerTasks, runReader } from '../../../../test/support/reader.ts'
import { wordEnvironment } from '../../../../test/support/word-environment.ts'
import { sampledTokens, type Store } from '../../../core/index.ts'
import { rubric, verifier } from '../../../reward/index.ts'
import { openMemoryStore } from '../../../store/index.ts'
import type { LearnEvent } from '../../events.ts'
import { LearnError } from '../../errors.ts'
import { rollouts } from '../../source.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const run = (changes?: ReaderChanges) => runReader(store, changes)

/** One run that fails: its error, and what it told before. */
async function failing(changes: ReaderChanges) {
  const events: LearnEvent[] = []
  const error = await run({ ...changes, onEvent: (event) => events.push(event) }).then(
    () => new Error('it did not fail'),
    (thrown: unknown) => thrown,
  )
  const of = <T extends LearnEvent['type']>(type: T) =>
    events.filter((event): event is Extract<LearnEvent, { type: T }> => event.type === type)
  return { error: error as LearnError, of }
}

const onlyRun = async () => (await store.runs.list({ limit: 1 }))[0]!

describe('a policy that collapses', () => {
  // Priming takes steps 1 and 2, so update 6 is step 8. The rate is half of 3e-4 by then, and at most half of that after a return.
  const schedule = { updates: 16, tasks: 24, validateEvery: 4, informativeGroups: 0 }
  const falls = (step: number, rate: number) => (step === 8 && rate > 1e-4 ? -100 : 0.4)
  const model = { practice: falls, imitation: 3, imitated: 6 }

  it('goes back to the steady checkpoint, and learns on with half the step', async () => {
    const { of, summary } = await run({ model, schedule })
    expect(of('recovered')).toMatchObject([
      { update: 7, to: 4, recoveries: 1, scale: 0.25, rollouts: { success: 0, n: 96 } },
    ])
    const rates = of('updated').map(({ update, metrics }) => [update, metrics.rate])
    const most = (from: number, to: number) =>
      Math.max(...rates.flatMap(([update = 0, rate = 0]) => (update >= from && update < to ? [rate] : [])))
    expect(most(1, 7)).toBeCloseTo(1.5e-4, 12)
    expect(most(8, 100)).toBeLessThanOrEqual(0.75e-4 + 1e-12)
    expect(of('stopped')).toEqual([])
    expect(summary).toMatchObject({ decision: 'promote', learned: { success: 1 } })
  })

  it('learns nothing from the batch that shows it, and every update has its own number', async () => {
    const { of } = await run({ model, schedule })
    const [back] = of('recovered')
    const [before, after] = [5, 8].map(
      (update) => of('updated').find((event) => event.update === update)?.rollouts.success,
    )
    expect(of('updated').map(({ update }) => update)).not.toContain(back?.update)
    expect(new Set(of('updated').map(({ update }) => update)).size).toBe(15)
    expect(after).toBeGreaterThan((before ?? 0) - 0.2)
  })

  it('is not kept as steady, at whichever update it falls', async () => {
    for (const step of [5, 6, 7, 8]) {
      store = await openMemoryStore()
      const practice = (at: number, rate: number) => (at === step && rate > 1e-4 ? -100 : 0.4)
      const { of, summary } = await run({ model: { ...model, practice }, schedule })
      expect(
        of('recovered').map(({ recoveries }) => recoveries),
        `a fall at step ${step}`,
      ).toEqual([1])
      expect(of('stopped')).toEqual([])
      expect(summary.decision).toBe('promote')
    }
  })

  it('goes back a bounded number of times, and then stops with what it had learned', async () => {
    const always = (step: number) => (step === 8 ? -100 : 0.4)
    const { of, summary } = await run({
      model: { ...model, practice: always },
      schedule: { ...schedule, updates: 40, recoveries: 2 },
    })
    expect(of('recovered').map(({ recoveries }) => recoveries)).toEqual([1, 2, 3])
    expect(of('recovered').map(({ scale }) => scale)).toEqual([0.25, 0.125, 0.0625])
    expect(of('stopped')).toMatchObject([{ reason: 'collapsed', update: of('recovered').at(-1)?.update }])
    expect(of('stopped')[0]?.diagnosis.endings.wrong).toBe(96)
    expect(summary.learned.success).toBeGreaterThan(summary.primed.success ?? 1)
  })

  it('has no return left where none is allowed, and says that nothing was learned', async () => {
    const { error, of } = await failing({
      model: { practice: (step) => (step === 4 ? -100 : 0), imitated: 6, imitation: 3 },
      schedule: { ...schedule, recoveries: 0 },
    })
    expect(of('recovered')).toHaveLength(1)
    expect(error).toMatchObject({
      code: 'learn/nothing-learned',
      message: expect.stringContaining('collapsed') as string,
    })
  })
})

describe('a run on which nothing differs', () => {
  const nothing = { imitation: 0, practice: () => 0 }

  it('stops, and says what the attempts came to and what would help', async () => {
    const { error, of } = await failing({ model: nothing, schedule: { updates: 50, silentUpdates: 3 } })
    expect(error).toBeInstanceOf(LearnError)
    expect(error.code).toBe('learn/nothing-learned')
    expect(error.message).toContain('In the last 3 updates hardly a group of attempts differed in reward')
    expect(error.message).toContain('Of 24 attempts 100 % end in a way that earns too little.')
    expect(error.hint).toContain('the decision is not')
    expect(of('updated')).toHaveLength(3)
    expect(of('stopped')).toMatchObject([{ reason: 'silent', update: 3, diagnosis: { attempts: 24 } }])
    expect(await onlyRun()).toMatchObject({ status: 'failed', failure: { code: 'learn/nothing-learned' } })
    expect(await store.ledger.uses(readerTasks.map(({ id }) => id))).toEqual([])
  })

  it('goes on where it is told never to stop', async () => {
    const { of } = await run({ model: nothing, schedule: { updates: 8, silentUpdates: 0, stillUpdates: 0 } })
    expect(of('updated')).toHaveLength(8)
    expect(of('stopped')).toEqual([])
  })

  it('is not one on which everything succeeds', async () => {
    const { of, summary } = await run({ schedule: { updates: 14, silentUpdates: 6, stillUpdates: 2 } })
    expect(of('updated')).toHaveLength(14)
    expect(summary.decision).toBe('promote')
  })
})

it('a run whose success does not rise any more stops, and keeps what it has learned', async () => {
  const practice = (step: number) => (step <= 4 ? 2 : 0)
  const { of, summary } = await run({ model: { practice }, schedule: { updates: 60, tasks: 12, stillUpdates: 6 } })
  expect(of('stopped')).toMatchObject([{ reason: 'still' }])
  expect(of('updated').length).toBeLessThan(30)
  expect(summary.learned.success).toBeGreaterThan(summary.primed.success ?? 1)
})

describe('imitation whose length the run decides', () => {
  const open = { primePasses: undefined, primeSuccess: 0.75, primeInformative: 0.5, updates: 1 }

  it('ends at the first look whose groups differ as wanted', async () => {
    const { of } = await run({ schedule: open })
    expect(of('looked')).toMatchObject([{ pass: 4, diagnosis: { attempts: 96 } }])
    expect(of('looked')[0]?.informative).toBeGreaterThanOrEqual(0.45)
    expect(of('primed').map(({ pass }) => pass)).toEqual([1, 2, 3, 4])
  })

  it('ends at the first look that succeeds as wanted', async () => {
    const { of } = await run({ model: { imitated: 10, imitation: 0.5 }, schedule: { ...open, primeInformative: 1 } })
    expect(of('looked').map(({ pass }) => pass)).toEqual([4, 8, 12])
    const [first, second, third] = of('looked').map(({ success }) => success)
    expect(Math.max(first ?? 1, second ?? 1)).toBeLessThan(0.5)
    expect(third).toBeGreaterThanOrEqual(0.5)
  })

  it('ends at the best look where success rises no more', async () => {
    const { of } = await run({ schedule: { ...open, primeInformative: 1 } })
    const looks = of('looked')
    expect(looks.length).toBeLessThan(8)
    expect(looks.every(({ success }) => success < 0.5)).toBe(true)
    expect(of('updated')).toHaveLength(1)
  })

  it('measures the share of the groups that there are, however few', async () => {
    const few = readerTasks.filter(({ id, split }) => split !== 'train' || /-[0-7]$/.test(id))
    const { of } = await run({ source: rollouts(wordEnvironment, few), schedule: { ...open, tasks: 4 } })
    expect(of('looked')).toMatchObject([{ pass: 4, diagnosis: { attempts: 32 } }])
  })

  it('says what is wrong where nothing ever succeeds', async () => {
    const { error, of } = await failing({ model: { imitation: 0 }, schedule: { ...open, primePassesAtMost: 6 } })
    expect(error).toMatchObject({
      code: 'learn/cannot-prime',
      message:
        'After 6 passes over the demonstrations hardly an attempt succeeds. Of 96 attempts 100 % end in a way that earns too little.',
    })
    expect(of('looked').map(({ pass }) => pass)).toEqual([4, 6])
    expect(of('updated')).toEqual([])
    expect(await onlyRun()).toMatchObject({ status: 'failed', failure: { code: 'learn/cannot-prime' } })
  })
})

it('refuses a reward that does not follow from what was done', async () => {
  let scored = 0
  const reward = rubric({ coin: verifier(() => ++scored % 2) })
  const { error, of } = await failing({ reward, check: false, schedule: { tasks: 24 } })
  expect(error.code).toBe('learn/noisy-reward')
  expect(error.message).toMatch(/varies \d+ % as much as among all \(\d+ comparisons\)/)
  expect(of('updated')).toEqual([])
})

describe('rounds', () => {
  it('are sampled on, of tasks at which an attempt failed, until enough groups differ', async () => {
    const { of } = await run({ schedule: { updates: 1, tasks: 6, rounds: 4, informativeGroups: 48 } })
    const [updated] = of('updated')
    expect(updated).toMatchObject({ metrics: { rounds: 4 } })
    const attempts = new Map<string, number>()
    for (const { trajectory } of await store.trajectories.list({ limit: 1000 })) {
      const { id, split } = trajectory.task
      if (split === 'train' && trajectory.id.includes('update-0')) attempts.set(id, (attempts.get(id) ?? 0) + 1)
    }
    expect(attempts.size).toBe(6)
    // At most a quarter of the tasks are attempted on, four times more in each round.
    expect(Math.max(...attempts.values())).toBe(16)
    expect([...attempts.values()].filter((count) => count > 4)).toHaveLength(2)
    expect(updated?.rollouts.n, 'what was chosen by how it ended measures nothing').toBe(24)
  })

  it('are one where that is enough', async () => {
    const { of } = await run({ schedule: { updates: 1, tasks: 12, rounds: 4, informativeGroups: 1 } })
    expect(of('updated')[0]).toMatchObject({ metrics: { rounds: 1 }, rollouts: { n: 12 * 4 } })
  })

  it('are one where no attempt failed', async () => {
    const model = { imitation: 10, imitated: 10 }
    const { of } = await run({ model, schedule: { updates: 1, tasks: 24, rounds: 4, informativeGroups: 24 } })
    expect(of('updated')[0]).toMatchObject({ metrics: { rounds: 1 }, rollouts: { success: 1 } })
  })
})

it('counts every token that the run sampled, looks and spent batches included', async () => {
  const practice = (step: number, rate: number) => (step === 17 && rate > 1e-4 ? -100 : 1.2)
  const schedule = { primePasses: undefined, updates: 10, tasks: 24, validateEvery: 4, informativeGroups: 0 }
  const { summary, of } = await run({ model: { practice }, schedule })
  expect(of('recovered')).toHaveLength(1)
  const records = await store.trajectories.list({ limit: 10_000 })
  const sampled = records.reduce((sum, { trajectory }) => sum + sampledTokens(trajectory), 0)
  expect(summary.tokensSampled).toBe(sampled)
})

describe('a run that was killed', () => {
  const practice = (step: number, rate: number) => (step === 17 && rate > 1e-4 ? -100 : 1.2)
  const changes: ReaderChanges = {
    model: { practice },
    schedule: { primePasses: undefined, updates: 9, tasks: 24, validateEvery: 4, informativeGroups: 20, rounds: 2 },
    clock: { now: () => 0 },
  }
  const steers = new Set(['primed', 'looked', 'updated', 'families', 'recovered', 'stopped', 'evaluated'])
  const storyOf = async (of: Store) => {
    const [{ id } = await onlyRun()] = await of.runs.list({ limit: 1 })
    return (await of.runs.events(id)).filter(({ type }) => steers.has(type)).map(({ type, data }) => ({ type, data }))
  }

  it('goes on where it was, and tells the same story', async () => {
    await run(changes)
    const whole = await storyOf(store)
    const killed = await openMemoryStore()
    const resumed = async (more: ReaderChanges, through = killed) => {
      const [earlier] = await killed.runs.list({ limit: 1 })
      return runReader(through, { ...changes, ...(earlier ? { resume: earlier.id } : {}), ...more })
    }
    const moments: readonly ((event: LearnEvent) => boolean)[] = [
      ({ type }) => type === 'primed',
      ({ type }) => type === 'looked',
      (event) => event.type === 'updated' && event.update === 2,
      ({ type }) => type === 'recovered',
      (event) => event.type === 'updated' && event.update === 7,
    ]
    for (const moment of moments) {
      const onEvent = (event: LearnEvent) => {
        if (moment(event)) throw new Error('killed')
      }
      await expect(resumed({ onEvent })).rejects.toThrow('killed')
    }
    for (const writes of [1, 40, 120]) {
      const { store: crashing } = crashingStore(killed, writes, 'after')
      await expect(resumed({}, crashing)).rejects.toBeInstanceOf(Crash)
    }
    await resumed({})
    expect(whole.map(({ type }) => type)).toContain('recovered')
    expect(await storyOf(killed)).toEqual(whole)
    await killed.close()
  })
})
