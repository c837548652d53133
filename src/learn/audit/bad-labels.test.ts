import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type AuditedParts,
  auditedParts,
  auditedCanary,
  auditedConfig,
  labelDraws,
} from '../../../test/support/audited-canary.ts'
import { agent, base, model, prompt } from '../../../test/support/canary-parts.ts'
import { KeyId } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { auditFrom } from '../source/traffic/audit-config.ts'
import { auditing } from './auditing.ts'
import { auditor } from './auditor.ts'

const better = prompt('Answer kindly.')
const forIt = { candidate: 1, baseline: 0 }
const againstIt = { candidate: 0, baseline: 1 }
const everything = { candidate: 1, baseline: 1 }

let parts: Omit<AuditedParts, 'config'>
beforeEach(async () => {
  parts = await auditedParts([model, base])
})
afterEach(() => parts.store.close())

const clock = { now: () => parts.time.now }

const alerts = async () =>
  (await parts.store.alerts.list({ agent, kind: 'audit', limit: 20 })).map(({ name, message }) => `${name}: ${message}`)
const audited = async (audit: object, count: number) => {
  const config = auditedConfig({ by: 'person', ...audit })
  const made = await auditedCanary({ ...parts, config }, better, count)
  const rules = present(auditFrom(config.audit, config.reporters.trusted), 'the audit')
  const watch = auditor({ store: parts.store, tenant: 'default', audit: rules, clock })
  const { reopen } = auditing({ store: parts.store, tenant: 'default', config, clock }, agent, parts.registry)
  return { ...made, watch: () => watch.look(made.canary), reopen }
}

describe('a reviewer who says that everything is right', () => {
  it('is outvoted where two more judge each draw, told of, and stops no promotion', async () => {
    const { canary, look, watch } = await audited({ reviewers: 3 }, 120)
    for (const reviewer of ['k:ann', 'k:bob']) await labelDraws(parts, canary.id, { ...forIt, reviewer })
    await labelDraws(parts, canary.id, { ...everything, reviewer: 'k:carl' })
    await watch()
    expect(await alerts()).toEqual([expect.stringMatching(/^k:carl: .*said the same of all 120 sessions/)])
    expect((await look()).canary.status).toBe('promoted')
  })

  it('hides a harm where nobody else judges: nothing is promoted by it, and it is told', async () => {
    const { canary, look, watch } = await audited({}, 120)
    await labelDraws(parts, canary.id, { ...everything, reviewer: 'k:carl' })
    await watch()
    expect(await alerts()).toEqual([expect.stringMatching(/^k:carl: .*said the same/)])
    expect((await look()).canary.status).toBe('running')
  })
})

describe('labels that contradict each other', () => {
  it('promote nothing while nobody decides, and then count against the candidate; both reviewers are told of', async () => {
    const { canary, look, watch } = await audited({ reviewers: 2, patience: '1d' }, 120)
    await labelDraws(parts, canary.id, { ...forIt, reviewer: 'k:ann' })
    await labelDraws(parts, canary.id, { ...againstIt, reviewer: 'k:bob' })
    await watch()
    expect((await alerts()).toSorted()).toEqual([
      expect.stringMatching(/^k:ann: .*no more often than chance/),
      expect.stringMatching(/^k:bob: .*no more often than chance/),
    ])
    expect((await look()).verdict?.evidence).toMatchObject({ truth: { waiting: 120 } })
    parts.time.now += 86_400_001
    const { canary: after, verdict } = await look()
    expect(after.status).toBe('running')
    expect(verdict?.evidence).toMatchObject({ truth: { waiting: 0 } })
  })

  it('are decided by a third, and who agrees with most is told of by nobody', async () => {
    const { canary, look, watch } = await audited({ reviewers: 2 }, 120)
    await labelDraws(parts, canary.id, { ...forIt, reviewer: 'k:ann' })
    await labelDraws(parts, canary.id, { ...againstIt, reviewer: 'k:bob' })
    await labelDraws(parts, canary.id, { ...forIt, reviewer: 'k:cleo' })
    await watch()
    const told = await alerts()
    expect(told.some((one) => one.startsWith('k:bob'))).toBe(true)
    expect(told.some((one) => one.startsWith('k:cleo'))).toBe(false)
    expect((await look()).canary.status).toBe('promoted')
  })
})

describe('a stolen key that stopped a canary', () => {
  it('is told of when its labels are taken back: a person tries the candidate again', async () => {
    const { canary, look, reopen } = await audited({}, 160)
    await labelDraws(parts, canary.id, { ...againstIt, reviewer: 'k_9' })
    expect((await look()).canary.status).toBe('rolled-back')
    await reopen()
    expect(await alerts()).toEqual([])
    await parts.store.audits.withdraw({ tenant: 'default', key: KeyId.parse('k_9'), at: parts.time.now })
    for (let i = 0; i < 2; i++) {
      parts.time.now += 60_000
      await reopen()
    }
    expect(await alerts()).toEqual([expect.stringMatching(`${canary.id}: .*what is left shows no harm.*ratchet try`)])
  })

  it('is no news where what others said shows the harm as well', async () => {
    const { canary, look, reopen } = await audited({}, 160)
    await labelDraws(parts, canary.id, { ...againstIt, reviewer: 'k_8', from: 10 })
    await labelDraws(parts, canary.id, { ...againstIt, reviewer: 'k_9', to: 10 })
    expect((await look()).canary.status).toBe('rolled-back')
    await parts.store.audits.withdraw({ tenant: 'default', key: KeyId.parse('k_9'), at: parts.time.now })
    parts.time.now += 60_000
    await reopen()
    expect(await alerts()).toEqual([])
  })
})
