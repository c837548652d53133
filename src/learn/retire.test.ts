import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { desks, deskTasks } from '../../test/support/choice-kind.ts'
import { gate, office, officeIn, rest, solved, source } from '../../test/support/retiring-office.ts'
import { isPaired, type Store } from '../core/index.ts'
import { replay } from '../gate/index.ts'
import { Registry } from '../release/index.ts'
import { progress, renderReport, reportOf } from '../report/index.ts'
import { openMemoryStore } from '../store/index.ts'
import type { LearnEvent } from './events.ts'
import { learn } from './learn.ts'
import { direct, shadow } from './release-plan.ts'
import { retire } from './retirement.ts'
import { rollouts, traffic } from './source.ts'

let store: Store
let at: ReturnType<typeof officeIn>
beforeEach(async () => {
  rest.knows = false
  store = await openMemoryStore()
  at = officeIn(store)
})
afterEach(() => store.close())

describe('retiring a Parameter', () => {
  it('gives up what a memory brings nothing by, and keeps what helps', async () => {
    const all = await at.learned('notes', 'greeting', 'tools', 'tone')
    expect(all.decision).toBe('promote')
    expect(all.brought?.map(({ parameter, verdict }) => [parameter, verdict])).toEqual([
      ['cases', 'helps'],
      ['notes', 'no-loss'],
      ['greeting', 'no-loss'],
      ['tools', 'no-loss'],
      ['tone', 'no-loss'],
    ])
    const before = await at.serving()

    const kept = await at.run({ cases: retire() })
    expect(kept).toMatchObject({ decision: 'reject', releaseId: null })
    expect((await at.serving()).id).toBe(before.id)

    const events: LearnEvent[] = []
    const lines: string[] = []
    const tell = progress({ write: (line) => lines.push(line) })
    const gone = await at.run(
      { notes: retire() },
      {
        onEvent(event) {
          events.push(event)
          tell(event)
        },
      },
    )
    expect(gone.decision).toBe('promote')
    const now = await at.serving()
    expect(now.versions).toEqual({ ...before.versions, notes: (await at.declaredVersions())['notes'] })
    // Nothing was learned from, and nothing attempted but held-out tasks.
    expect([
      ...new Set(events.flatMap((event) => (event.type === 'progress' ? [event.phase.split('/')[0]] : []))),
    ]).toEqual(['holdout'])
    expect(gone.tokensTrained).toBe(0)

    const receipt = now.receipt === null ? null : await store.receipts.get(now.receipt)
    if (!receipt || !isPaired(receipt)) throw new Error('no receipt')
    expect(replay(receipt)).toBe('promote')
    expect(receipt.reasons.join('\n')).toMatch(
      /without what "notes" learned less than 0\.05 is lost, so it can be retired\.\nIt gives up what "notes" learned: the value that the agent declares serves in its place, and up to 5 % of the range of rewards may be lost/,
    )
    // The third use of these tasks, which may have told which of five to retire.
    expect(receipt.use.use).toBe(3)
    expect(receipt.evidence['alpha']).toBeCloseTo(receipt.use.alpha / 5, 12)
    expect(lines.join('\n')).toMatch(
      /without what "notes" learned less[\s\S]*"notes" is retired, and serves as it is declared/,
    )
    const page = renderReport(await reportOf(store, gone.runId)).replaceAll(/<[^>]*>/g, '')
    expect(page).toMatch(/Retired[\s\S]*without what “notes” learned, and 100% with it/)
    expect(page).toMatch(/Earlier uses of these tasks may have told which part to retire/)

    const { id } = await new Registry(store).rollback('office')
    expect(id).toBe(before.id)
  })

  it('gives up what others have absorbed since it was learned, down to the agent as it is declared', async () => {
    await at.learned()
    const before = await at.serving()
    expect((await at.run({ cases: retire() })).decision).toBe('reject')
    rest.knows = true
    const { decision, releaseId } = await at.run({ cases: retire() })
    expect(decision).toBe('promote')
    const now = await at.serving()
    expect(now).toMatchObject({ id: releaseId, versions: await at.declaredVersions() })
    // To be declared again changes nothing; a step back does.
    await expect(at.run({ cases: retire() })).rejects.toMatchObject({ code: 'learn/nothing-to-retire' })
    expect((await at.serving()).id).toBe(now.id)
    expect((await new Registry(store).rollback('office')).id).toBe(before.id)
  })

  it.each(['notes', 'greeting', 'tools', 'tone'] as const)('works for every Kind but weights: %s', async (name) => {
    await at.learned(name)
    const { decision, releaseId } = await at.run({ [name]: retire() })
    expect({ decision, released: releaseId !== null }).toEqual({ decision: 'promote', released: true })
    expect((await at.serving()).versions[name]).toBe((await at.declaredVersions())[name])
  })

  it('says in the next receipts what earlier ones may have lost, and counts as no promotion', async () => {
    await at.learned('notes', 'tone')
    expect(await store.levels.countPromoted('office')).toBe(1)
    await at.run({ notes: retire() })
    const { runId } = await at.run({ tone: retire({ loss: 0.1 }) })
    const level = await store.levels.get('office', runId)
    expect(level).toMatchObject({ candidate: 3, promotions: 1, promoted: false })
    const kept = await store.runs.get(runId)
    const receipt = kept?.receipt && (await store.receipts.get(kept.receipt))
    expect(receipt && receipt.reasons.join('\n')).toContain(
      "The agent's earlier retirement may have lost up to 5 % more: each is compared with what served then.",
    )
  })

  it('can keep its candidate, so that nobody gets it', async () => {
    await at.learned('notes')
    const before = await at.serving()
    const summary = await at.run({ notes: retire() }, { release: shadow() })
    expect(summary).toMatchObject({ decision: 'promote', outcome: 'shadow', releaseId: null })
    expect((await at.serving()).id).toBe(before.id)
    expect(renderReport(await reportOf(store, summary.runId))).toContain('Not missed, and not retired')
  })

  it('warns where so few tasks judge that nothing could be shown', async () => {
    await at.learned('notes')
    const events: LearnEvent[] = []
    const few = rollouts(desks, deskTasks)
    const { decision } = await at.run({ notes: retire() }, { source: few, onEvent: (event) => events.push(event) })
    expect(decision).toBe('need_more_evidence')
    expect(events).toContainEqual(
      expect.objectContaining({ code: 'learn/few-tasks', message: expect.stringMatching(/^40 held-out tasks judge/) }),
    )
  })

  it('works over traffic, on its held-out tasks', async () => {
    await at.learned('notes')
    const evaluation = { agent: office, environment: desks, holdout: source.holdout, reward: solved }
    const summary = await learn(office, {
      store,
      source: traffic({ agent: 'office', evaluation }),
      reward: solved,
      optimize: { notes: retire() },
      gate,
      release: direct(),
    })
    expect(summary).toMatchObject({
      outcome: 'released',
      decision: 'promote',
      reason: '"notes" is retired: it serves as it is declared.',
      learned: { sessions: 0 },
    })
    expect((await at.serving()).versions['notes']).toBe((await at.declaredVersions())['notes'])
    expect(renderReport(await reportOf(store, summary.runId)).replaceAll(/<[^>]*>/g, '')).toContain(
      'was measured without what “notes” learned, on 200 held-out tasks',
    )
  })
})
