import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  likedSessions,
  recordSessions,
  runTraffic,
  sayOf,
  type TrafficChanges,
} from '../../test/support/learner-traffic.ts'
import { practisedModel } from '../../test/support/practised-model.ts'
import type { Store } from '../core/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { renderReport, reportOf } from './index.ts'
import { shadow } from '../learn/index.ts'

const hour = 3_600_000

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const text = (page: string) =>
  page
    .replace(/<style>[^<]*<\/style>/, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')

async function reported(changes: TrafficChanges, storeArgument = '') {
  await likedSessions(store, { now: hour, prefix: 's', count: 8 })
  const { summary } = await runTraffic(store, hour, changes)
  const report = await reportOf(store, summary.runId, { storeArgument })
  return { report, page: text(renderReport(report)), run: summary.runId }
}

describe('the report of a run over traffic', () => {
  it('reads every event, and shows what was learned from and how', async () => {
    const { report, page } = await reported({ release: shadow() })
    expect(report.unreadEvents).toBe(0)
    expect(report.traffic).toMatchObject({
      mode: 'shadow',
      agent: { name: 'reader' },
      gathered: { sessions: 8, seen: 8 },
      summary: { outcome: 'shadow' },
    })
    expect(report.traffic?.steps.map(({ kind }) => kind)).toEqual(['practised', 'practised'])
    expect(page).toContain('reader learned from 8 sessions of its traffic.')
    expect(page).toContain('Practice, epoch 2 of 2')
    expect(page).not.toContain('left no results')
    expect(page).not.toContain('could not be read')
  })

  it('prints commands of its own kind only, with its agent and its store', async () => {
    const { report, page, run } = await reported({ release: shadow() }, ' --store elsewhere')
    expect(report.reproduce).toBeNull()
    expect(page).not.toMatch(/ratchet learn/)
    expect(page).toContain(`npx ratchet report ${run} --store elsewhere`)
    expect(page).toContain(`npx ratchet try ${run} --agent reader --store elsewhere`)
    expect(page).toContain('npx ratchet trajectories --agent reader --store elsewhere')
  })

  it('tells how its canary stands', async () => {
    const { report, page } = await reported({})
    expect(report.traffic?.canary).toMatchObject({ status: 'running', share: 0.1 })
    expect(page).toContain('In a canary: 10%')
    expect(page).toContain('npx ratchet canaries --agent reader')
  })

  it('says why sessions were left out', async () => {
    await recordSessions(store, practisedModel().service.renderer, [{ id: 'quiet', at: hour - 100_000, train: false }])
    await store.signals.append([sayOf('quiet', true)])
    const { page } = await reported({ release: shadow() })
    expect(page).toContain('train-forbidden 1 Its client forbids learning.')
  })
})
