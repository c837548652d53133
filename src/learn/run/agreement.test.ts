import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { runReader } from '../../../test/support/reader.ts'
import { type Fault, openTinkerServer, type SeenRequest } from '../../../test/support/tinker-server.ts'
import { tinyTokenizerFolder } from '../../../test/support/tiny-tokenizer.ts'
import type { ModelService, SampledSequence } from '../../core/index.ts'
import { openTinkerModel } from '../../model/tinker/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { refuseDisagreement } from './agreement.ts'

type Sampling = (sample: ModelService['sampler']['sample']) => ModelService['sampler']['sample']

const sampling = (changed: Sampling) => (service: ModelService) => ({
  ...service,
  sampler: { ...service.sampler, sample: changed((request) => service.sampler.sample(request)) },
})
const shifted = (sequence: SampledSequence, by: number) => ({
  ...sequence,
  logprobs: sequence.logprobs.map((logprob) => logprob + by),
})

describe('a run before its first update', () => {
  it('tells how far what serves is from what trains: at its start, and before it practises', async () => {
    const store = await openMemoryStore()
    const { of } = await runReader(store, { schedule: { updates: 1 } })
    const told = of('agreed')
    expect(told.map(({ adapter }) => adapter)).toEqual([expect.stringMatching(/^adapter-/), expect.anything()])
    for (const { tokens, furthest } of told) {
      expect(tokens).toBeGreaterThan(0)
      expect(furthest).toBeLessThan(1e-4)
    }
    await store.close()
  })

  it('ends where log-probabilities are not those of the trainer: nothing has moved', async () => {
    const store = await openMemoryStore()
    let steps = 0
    const off = sampling((sample) => async (request) => (await sample(request)).map((one) => shifted(one, 0.01)))
    const run = runReader(store, { service: off, model: { onStep: () => void steps++ } })
    await expect(run).rejects.toMatchObject({
      code: 'learn/served-differs',
      message: expect.stringMatching(
        /adapter "adapter-0" over "words".*"model".*fresh tokens.*0\.0100.*0\.001 is allowed/,
      ),
    })
    expect(steps).toBe(0)
    const [run1] = await store.runs.list({ limit: 1 })
    expect(run1).toMatchObject({ status: 'failed', failure: { code: 'learn/served-differs' } })
    await expect(runReader(store, { service: off, agreement: 0.02, schedule: { updates: 1 } })).resolves.toBeDefined()
    await store.close()
  })

  it('ends before it practises where the server samples without the adapter', async () => {
    const store = await openMemoryStore()
    const types: string[] = []
    const without = sampling((sample) => (request) => sample({ ...request, adapter: null }))
    const run = runReader(store, { service: without, onEvent: ({ type }) => types.push(type) })
    await expect(run).rejects.toMatchObject({ code: 'learn/served-differs' })
    expect(types).toContain('primed')
    expect(types).not.toContain('updated')
    await store.close()
  })

  it('ends where nothing is sampled, or what is told is no number', async () => {
    for (const wrong of [
      sampling((sample) => async (request) => (await sample(request)).map((one) => shifted(one, Number.NaN))),
      sampling(() => async () => [{ tokens: [], logprobs: [], behaviourLogprobs: [], stopReason: 'stop' }]),
    ]) {
      const store = await openMemoryStore()
      await expect(runReader(store, { service: wrong })).rejects.toMatchObject({ code: 'learn/served-differs' })
      await store.close()
    }
  })
})

describe('a Tinker server', () => {
  let folder: string
  let close: () => Promise<void>
  beforeAll(() => {
    folder = tinyTokenizerFolder()
  })
  afterEach(() => close())

  async function agreementWith(fault: (request: SeenRequest) => Fault | undefined) {
    const server = await openTinkerServer(fault)
    const { service } = await openTinkerModel({ url: server.url, baseModel: 'tiny', folder })
    close = async () => {
      await service.close()
      await server.close()
    }
    const trainer = await service.trainer({ kind: 'lora', rank: 4, alpha: 32 }, 1)
    return refuseDisagreement({ parameter: 'policy', model: service, trainer }, { seed: 1 })
  }

  it('that is honest agrees', async () => {
    expect(await agreementWith(() => undefined)).toMatchObject({ tokens: 51, furthest: 0 })
  })

  it('that lies about what it sampled is found out, with its adapter', async () => {
    const lie: Fault = {
      kind: 'lie',
      say: (answer) =>
        Array.isArray(answer.sequences)
          ? { ...answer, sequences: answer.sequences.map((one: SampledSequence) => shifted(one, -0.05)) }
          : answer,
    }
    await expect(agreementWith(({ path }) => (path === '/retrieve_future' ? lie : undefined))).rejects.toMatchObject({
      code: 'learn/served-differs',
      message: expect.stringMatching(/adapter ".+" over "tiny".*"policy".*0\.0500/),
    })
  })
})
