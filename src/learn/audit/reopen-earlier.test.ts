import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type AuditedParts,
  auditedParts,
  auditedConfig,
  labelDraws,
  promotedByLabels,
} from '../../../test/support/audited-canary.ts'
import { agent, base, model, prompt, setOf } from '../../../test/support/canary-parts.ts'
import { type Canary, KeyId, mintVersion, type Version } from '../../core/index.ts'
import { auditedCanaries, Registry } from '../../release/index.ts'
import { openStore } from '../../store/index.ts'
import type { LearnerEvent } from '../learner/events.ts'
import { auditing } from './auditing.ts'

const tool = (text: string): Version => mintVersion('tool-search', { kind: 'text', text }, { parents: [], run: null })
const search = tool('Searches.')
const [kind, kinder] = [prompt('Answer kindly.'), prompt('Answer kindly and at once.')]
const finds = tool('Finds.')
const against = { candidate: 0, baseline: 1, from: 60 }

let parts: AuditedParts
beforeEach(async () => {
  parts = { ...(await auditedParts([model, base, search])), config: auditedConfig({ by: 'person' }) }
})
afterEach(() => parts.store.close())

/** What a learner looks at, for as long as it lives. */
function learner({ store, registry, config, time }: AuditedParts) {
  const told: string[] = []
  const onEvent = (event: LearnerEvent) => event.type === 'reopened' && told.push(event.canary)
  const clock = { now: () => time.now }
  const { reopen } = auditing({ store, tenant: 'default', config, clock, onEvent }, agent, registry)
  return { reopen, told }
}
const versions = async () => (await parts.registry.current(agent)).release.versions
const lastEvent = async ({ id }: Canary) => (await parts.store.canaries.events(id)).at(-1)

describe('labels of an earlier canary, of which a Parameter still serves', () => {
  it('take back that Parameter alone: what another canary brought since stays', async () => {
    const first = await promotedByLabels(parts, kind)
    const second = await promotedByLabels(parts, finds)
    expect((await auditedCanaries(parts.store, agent)).map(({ canary }) => canary.id)).toEqual([second.id, first.id])
    const { reopen, told } = learner(parts)
    await reopen()
    expect(told).toEqual([])
    await labelDraws(parts, first.id, against)
    await reopen()
    expect(told).toEqual([first.id])
    expect(await versions()).toEqual(setOf(model, base, finds))
    expect(await lastEvent(first)).toMatchObject({ type: 'rolled-back', evidence: { parameters: ['system'] } })
    expect((await auditedCanaries(parts.store, agent)).map(({ canary }) => canary.id)).toEqual([second.id])
    // What is left was learned: it rests on the gate that promoted it, and turning all off still turns it off.
    const { release } = await parts.registry.current(agent)
    expect(release.receipt).toBe(second.receipt)
    expect((await parts.registry.rollback(agent, undefined, parts.time.now)).versions).toEqual(
      setOf(model, base, search),
    )
    expect((await parts.registry.off(agent)).versions).toEqual(setOf(model, base, search))
  })

  it('take back what each brought, one after the other: nothing learned is left', async () => {
    const first = await promotedByLabels(parts, kind)
    const second = await promotedByLabels(parts, finds)
    const { reopen, told } = learner(parts)
    await reopen()
    await labelDraws(parts, first.id, against)
    await reopen()
    await labelDraws(parts, second.id, against)
    await reopen()
    expect(told).toEqual([first.id, second.id])
    const { release } = await parts.registry.current(agent)
    expect(release).toMatchObject({ versions: setOf(model, base, search), receipt: null })
    await reopen()
    expect(told).toHaveLength(2)
    await expect(parts.registry.rollback(agent)).rejects.toThrow('nothing served before it')
  })

  it('are heard again when what came after it goes back, and then take it back, too', async () => {
    const first = await promotedByLabels(parts, kind)
    const second = await promotedByLabels(parts, kinder)
    const { reopen, told } = learner(parts)
    await labelDraws(parts, first.id, against)
    await reopen()
    expect(told, 'what it brought serves no more').toEqual([])
    await labelDraws(parts, second.id, against)
    await reopen()
    expect(told).toEqual([second.id, first.id])
    expect(await versions()).toEqual(setOf(model, base, search))
  })

  it('are heard after a later promotion was rolled back by hand, which is one step back', async () => {
    const first = await promotedByLabels(parts, kind)
    await promotedByLabels(parts, finds)
    await parts.registry.rollback(agent, undefined, parts.time.now)
    const { reopen, told } = learner(parts)
    await labelDraws(parts, first.id, against)
    await reopen()
    expect(told).toEqual([first.id])
    expect(await versions()).toEqual(setOf(model, base, search))
  })

  it('take nothing back that somebody chose by hand', async () => {
    const first = await promotedByLabels(parts, kind)
    const { release: chosen } = await parts.registry.current(agent)
    await promotedByLabels(parts, finds)
    await promotedByLabels(parts, kinder)
    await parts.registry.rollback(agent, chosen.id, parts.time.now)
    const { reopen, told } = learner(parts)
    await labelDraws(parts, first.id, against)
    await reopen()
    expect(told).toEqual([])
    expect(await versions()).toEqual(chosen.versions)
    expect(await auditedCanaries(parts.store, agent)).toEqual([])
  })

  it('of a stolen key take back what rested on them, and nothing that rested on others', async () => {
    const first = await promotedByLabels(parts, kind, { reviewer: 'k_2' })
    await promotedByLabels(parts, finds, { reviewer: 'k_3' })
    const { reopen, told } = learner(parts)
    await parts.store.audits.withdraw({ tenant: 'default', key: KeyId.parse('k_2'), at: parts.time.now })
    await reopen()
    expect(told).toEqual([first.id])
    expect(await versions()).toEqual(setOf(model, base, finds))
  })
})

it('a learner that starts on the same store, after a kill, finds what labels said meanwhile, and does nothing twice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-reopen-'))
  const open = async (): Promise<AuditedParts> => {
    const store = await openStore({ path: join(folder, 'store') })
    return { ...parts, store, registry: new Registry(store) }
  }
  try {
    const before = await open()
    await before.registry.initial(agent, [model, base, search], 1)
    const first = await promotedByLabels(before, kind)
    await promotedByLabels(before, finds)
    await learner(before).reopen()
    await labelDraws(before, first.id, against)
    await before.store.close()

    const after = await open()
    const again = learner(after)
    await again.reopen()
    expect(again.told).toEqual([first.id])
    expect((await after.registry.current(agent)).release.versions).toEqual(setOf(model, base, finds))
    await after.store.close()

    const last = await open()
    const third = learner(last)
    await third.reopen()
    expect(third.told).toEqual([])
    expect(await last.store.alerts.list({ agent, kind: 'rollback', limit: 9 })).toHaveLength(1)
    await last.store.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
