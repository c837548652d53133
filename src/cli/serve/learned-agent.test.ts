import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { admissionOf, agent, setOf } from '../../../test/support/canary-parts.ts'
import { runRecord } from '../../../test/support/run-record.ts'
import { defaultTenant, type Json, mintVersion, RunId } from '../../core/index.ts'
import { LearnConfig } from '../../recipe/index.ts'
import { Registry } from '../../release/index.ts'
import { openStore } from '../../store/index.ts'
import { learnedAgent } from './learned-agent.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-learned-agent-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const base = { kind: 'weights', base: 'small', baseHash: 'hash', adapter: null } as const

interface Ran {
  readonly config: Json
  /** Whether it came to a release. Default true. */
  readonly released?: boolean
}

/** A store with these runs of the agent, one after the other. */
async function storeOf(runs: readonly Ran[]): Promise<{ readonly store: string }> {
  const store = await openStore({ path: join(folder, 'ratchet.db') })
  const registry = new Registry(store)
  let serving = mintVersion('model', base, { parents: [], run: null })
  await registry.initial(agent, [serving])
  for (const [i, { config, released = true }] of runs.entries()) {
    const run = RunId.parse(`run-${i}`)
    await store.runs.create(runRecord({ id: run, agent, config, status: 'completed' }))
    if (!released) continue
    const adapter = String(i).repeat(64)
    const candidate = mintVersion('model', { ...base, adapter }, { parents: [serving.id], run })
    const receipt = admissionOf(setOf(serving), setOf(candidate))
    await registry.promote({ receipt, versions: [candidate], run })
    serving = candidate
  }
  await store.close()
  return { store: folder }
}

const learned = (config: object): Json => ({ learn: LearnConfig.parse(config) as unknown as Json, control: false })
const traffic: Json = { source: 'traffic', learn: { mode: 'canary' } }

describe('what serves a learned agent', () => {
  it('is the model of the run that was released, laid out and rounded as there, whatever ran since', async () => {
    const flags = await storeOf([
      { config: learned({ model: 'old', precision: 'float32' }) },
      { config: learned({ model: 'small', precision: 'int8', adapter: { rank: 4 } }) },
      { config: learned({ model: 'held', renderer: 'template' }), released: false },
      { config: traffic },
    ])
    expect(await learnedAgent(flags, agent)).toEqual({
      upstreams: [{ name: 'embedded', url: 'embedded', model: 'small', renderer: 'compact', precision: 'int8' }],
      agents: [{ name: agent, tenant: defaultTenant, model: 'small', rank: 4 }],
    })
  })

  it('is at the server that it learned at', async () => {
    const server = { url: 'http://127.0.0.1:8000', kind: 'skyrl-jax' }
    const { upstreams } = await learnedAgent(await storeOf([{ config: learned({ server }) }]), agent)
    expect(upstreams).toMatchObject([{ name: 'tinker', url: 'tinker', server, precision: 'auto' }])
  })

  it('is refused where no run of it was released', async () => {
    const flags = await storeOf([{ config: learned({}), released: false }])
    await expect(learnedAgent(flags, agent)).rejects.toMatchObject({ code: 'input/nothing-learned' })
    await expect(learnedAgent(flags, 'a/b')).rejects.toMatchObject({ code: 'input/agent-name' })
    await expect(learnedAgent(flags, 'painter')).rejects.toMatchObject({ code: 'release/unknown-agent' })
  })

  it('is an error where this version cannot read how it was learned', async () => {
    const flags = await storeOf([{ config: { learn: { model: 'small', renderer: 'of another version' } } }])
    await expect(learnedAgent(flags, agent)).rejects.toThrow(/the configuration of run-0/)
  })
})
