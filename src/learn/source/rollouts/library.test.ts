import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { practisedModel } from '../../../../test/support/practised-model.ts'
import { runReader, type ReaderChanges } from '../../../../test/support/reader.ts'
import type { Message, Saved, Store } from '../../../core/index.ts'
import { StateMismatchError } from '../../../model/embedded/train/state-mismatch-error.ts'
import { openMemoryStore } from '../../../store/index.ts'
import { type LibraryAdapter, releasedAdapters } from './library.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const base = { base: 'words', baseHash: 'the words as they are' }
const messages: readonly Message[] = [
  { role: 'user', content: 'What is the word of x?' },
  { role: 'assistant', content: '', toolCalls: [{ name: 'look', arguments: {} }] },
]

/** Weights of so much skill, as the trainer of the practised model saves them. */
async function skilled(skill: number): Promise<Saved> {
  const { service } = practisedModel({ practice: () => skill })
  const trainer = await service.trainer({ kind: 'lora', rank: 4, alpha: 4 }, 0)
  await trainer.forwardBackward([], { kind: 'importance_sampling' })
  await trainer.optimStep({ learningRate: 1 } as never)
  return trainer.saveWeights()
}

const adapter = (name: string, skill: number, more: Partial<LibraryAdapter> = {}): LibraryAdapter => ({
  name,
  ...base,
  load: () => skilled(skill),
  ...more,
})

/** What a skill makes of each demonstrated token: likelier up to 6, and less likely above. It outweighs how often it is said. */
const logprob = (skill: number) => -1 - Math.abs(skill - 6)

const begin = (startFrom: readonly LibraryAdapter[], { schedule, ...more }: ReaderChanges = {}) =>
  runReader(store, {
    model: { logprob },
    prime: { demonstrations: [{ messages }], startFrom },
    schedule: { primePasses: 0, updates: 0, ...schedule },
    // The scripted sampler knows nothing of what a skill adds.
    agreement: 100,
    ...more,
  })

describe('a run begins', () => {
  it('from the adapter under which the demonstrations are likeliest', async () => {
    const { summary, of, practised } = await begin([adapter('far', 2), adapter('near', 5), adapter('past', 10)])
    const [{ scores, ...told }] = of('began-from') as [ReturnType<typeof of<'began-from'>>[0]]
    expect(told).toEqual({ type: 'began-from', adapter: 'near', demonstrations: 1 })
    expect(scores.map(({ name }) => name)).toEqual([null, 'far', 'near', 'past'])
    expect(scores.toSorted((a, b) => b.logprob - a.logprob)[0]?.name).toBe('near')
    expect(summary.base.success).toBe(0)
    expect(summary.primed.success).toBeGreaterThan(0.3)
    expect(practised.trainers.size + practised.adapters.size).toBe(0)
  })

  it('as it serves, where no adapter is better', async () => {
    const { summary, of } = await begin([adapter('past', 10)], { model: { logprob: (skill) => -1 - 5 * skill } })
    expect(of('began-from')).toMatchObject([{ adapter: null, scores: [{ name: null }, { name: 'past' }] }])
    expect(summary.primed.success).toBe(0)
  })

  it('and imitates from there', async () => {
    const given = { model: { logprob, imitated: 10, imitation: 2 }, schedule: { primePasses: 1 } }
    const alone = await begin([], given)
    const { summary } = await begin([adapter('near', 5)], given)
    expect(alone.summary.primed.success).toBeLessThan(0.4)
    expect(alone.of('began-from')).toEqual([])
    expect(summary.primed.success).toBeGreaterThan(0.5)
  })

  it('once: a run that is resumed goes on from there', async () => {
    const stop = new AbortController()
    const loads: string[] = []
    const near = adapter('near', 5, {
      load: () => {
        loads.push('near')
        return skilled(5)
      },
    })
    const schedule = { primePasses: 2 }
    await begin([near], {
      schedule,
      signal: stop.signal,
      onEvent: (event) => event.type === 'began-from' && stop.abort(),
    }).catch(() => {})
    const [run] = await store.runs.list({ limit: 1 })
    const { summary } = await begin([near], { schedule, resume: run!.id })
    expect(loads).toEqual(['near'])
    expect(summary.primed.success).toBeGreaterThan(0.3)
  })

  it('and the control from the same start', async () => {
    const { summary } = await begin([adapter('near', 5)], { control: true })
    expect(summary.control?.success).toBeGreaterThan(0.3)
  })
})

it('the adapters that agents serve are a library', async () => {
  await runReader(store)
  const [served, ...more] = await releasedAdapters(store, ['reader'])
  expect(more).toEqual([])
  expect(served).toMatchObject({ name: 'reader/model', ...base })
  expect(await served!.load()).toBeInstanceOf(Uint8Array)
  await expect(releasedAdapters(store, ['nobody'])).rejects.toMatchObject({ code: 'release/unknown-agent' })
})

describe('a library is refused', () => {
  const near = adapter('near', 5)
  it.each([
    ['of another base', { ...near, base: 'letters' }, 'learn/unusable-adapter'],
    ['of other files', { ...near, baseHash: 'other words' }, 'learn/unusable-adapter'],
  ])('%s, before anything starts', async (_, one, code) => {
    await expect(begin([near, one])).rejects.toMatchObject({ code })
    await expect(begin([{ ...one, name: 'other' }])).rejects.toMatchObject({ code })
    expect(await store.runs.list({ limit: 1 })).toEqual([])
  })

  it('with two of one name, and without demonstrations', async () => {
    await expect(begin([near, near])).rejects.toMatchObject({ code: 'learn/unusable-adapter' })
    const prime = { demonstrations: [], startFrom: [near] }
    await expect(begin([], { prime })).rejects.toMatchObject({ code: 'learn/nothing-to-choose-by' })
    expect(await store.runs.list({ limit: 1 })).toEqual([])
  })

  it('where an adapter has another rank than what is trained', async () => {
    const refuse = () => Promise.reject(new StateMismatchError('rank 8, not 4'))
    const one = adapter('wide', 5, { load: () => skilled(5) })
    const service: ReaderChanges['service'] = (practised) => ({
      ...practised,
      trainer: async (...given) => Object.assign(await practised.trainer(...given), { loadWeights: refuse }),
    })
    await expect(begin([one], { service })).rejects.toMatchObject({
      code: 'learn/unusable-adapter',
      message: expect.stringContaining('"wide"') as string,
    })
  })
})
