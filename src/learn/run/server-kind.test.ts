import { afterEach, describe, expect, it } from 'vitest'
import { runReader } from '../../../test/support/reader.ts'
import { openTinkerServer } from '../../../test/support/tinker-server.ts'
import { tinyTokenizerFolder } from '../../../test/support/tiny-tokenizer.ts'
import { type ModelService, ParameterName, type Trainer } from '../../core/index.ts'
import { openTinkerModel, type ServerKind } from '../../model/tinker/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { refuseOtherServer } from './server-kind.ts'

const folder = tinyTokenizerFolder()
const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close()
})

/** A server as it is, and what its client takes it for. */
async function looked(kind: ServerKind, ...how: Parameters<typeof openTinkerServer>) {
  const server = await openTinkerServer(...how)
  const { service } = await openTinkerModel({ url: server.url, baseModel: 'tiny', folder, server: kind })
  opened.push(server, service)
  const method = { kind: 'lora', rank: 4, alpha: 32 } as const
  await refuseOtherServer({ parameter: ParameterName.parse('policy'), model: service, method }, { seed: 1 })
  return server
}

describe('a server before the first update', () => {
  it.each([
    ['tinker', 'sum', 'copy'],
    ['skyrl-jax', 'sequence-mean', 'copy'],
    ['skyrl-jax', 'sequence-mean', 'slot'],
  ] as const)('that is taken for what it is goes on: %s', async (kind, reduction, samples) => {
    const server = await looked(kind, undefined, reduction, samples)
    expect(server.models()).toEqual([])
  })

  it('whose published weights are those that are trained is found out', async () => {
    await expect(looked('tinker', undefined, 'sum', 'slot')).rejects.toMatchObject({
      code: 'learn/server-kind',
      message: expect.stringMatching(/"tiny".*"policy".*adapter ".+" was published.*moved by 0\.\d+/) as string,
      hint: expect.stringContaining('--server-kind skyrl-jax') as string,
    })
  })

  it.each([
    ['tinker', 'sequence-mean', /two equal sequences is 1\.00 times/],
    ['skyrl-jax', 'sum', /two equal sequences is 4\.00 times/],
  ] as const)('taken for %s that adds up by %s is found out', async (kind, reduction, message) => {
    await expect(looked(kind, undefined, reduction)).rejects.toMatchObject({ code: 'learn/server-kind', message })
  })
})

it('a server whose rounding turns a near tie goes on', async () => {
  const server = await openTinkerServer()
  const { service } = await openTinkerModel({ url: server.url, baseModel: 'tiny', folder, server: 'tinker' })
  opened.push(server, service)
  let draws = 0
  const sampler = new Proxy(service.sampler, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (name !== 'sample') return typeof member === 'function' ? member.bind(target) : member
      return async (...how: Parameters<typeof target.sample>) => {
        const drawn = await target.sample(...how)
        if (draws++ === 0) return drawn
        return drawn.map((one) => ({
          ...one,
          tokens: one.tokens.map((token, t) => (t === 1 ? token ^ 1 : token)),
          logprobs: one.logprobs.map((logprob, t) => (t > 0 ? logprob - 5 : logprob)),
        }))
      }
    },
  })
  const { base, renderer } = service
  const model = { base, renderer, sampler, trainer: service.trainer.bind(service) }
  const method = { kind: 'lora', rank: 4, alpha: 32 } as const
  await refuseOtherServer({ parameter: ParameterName.parse('policy'), model, method }, { seed: 1 })
  expect(draws).toBe(2)
})

/** The practised model, as one that leaves paths and has other capabilities than the engine. */
const elsewhere = (capabilities: Partial<Trainer['capabilities']>, opens: () => void) => (service: ModelService) => ({
  ...service,
  trainer: async (...how: Parameters<ModelService['trainer']>) => {
    opens()
    const trainer = await service.trainer(...how)
    return new Proxy(trainer, {
      get(target, name) {
        if (name === 'capabilities') return { ...target.capabilities, ...capabilities }
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  },
})

describe('a run', () => {
  it('looks at a server, and not at the engine', async () => {
    const store = await openMemoryStore()
    let opens = 0
    const service = elsewhere({}, () => void opens++)
    await runReader(store, { service, schedule: { primePasses: 0, updates: 1 } })
    expect(opens).toBe(1)
    // The norm is 1, whatever its data.
    const there = elsewhere({ saves: 'paths' }, () => void opens++)
    const run = runReader(store, { service: there, schedule: { primePasses: 0, updates: 1 } })
    await expect(run).rejects.toMatchObject({ code: 'learn/server-kind' })
    expect(opens).toBe(3)
    await store.close()
  })

  it('tells before its first update, and before it imitates, that gradients are not clipped', async () => {
    const store = await openMemoryStore()
    const types: string[] = []
    await runReader(store, {
      service: elsewhere({ clipsGradients: false }, () => {}),
      schedule: { updates: 1 },
      onEvent: (event) => types.push(event.type === 'found' ? event.code : event.type),
    })
    expect(types.indexOf('learn/unclipped')).toBeGreaterThan(types.indexOf('started'))
    expect(types.indexOf('learn/unclipped')).toBeLessThan(types.indexOf('primed'))
    await store.close()
  })
})
