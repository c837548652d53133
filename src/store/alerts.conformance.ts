import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Alert, RunId, type Store } from '../core/index.ts'
import { RecordConflictError, UnstorableValueError } from './errors/index.ts'
import { traffic } from './traffic.conformance.ts'

const alertOf = (id: string, change: object = {}): Alert =>
  Alert.parse({
    id,
    agent: 'support',
    kind: 'drift',
    name: 'reward',
    message: 'Rewards fell from 0.8 to 0.5.',
    evidence: { before: 0.8, after: 0.5 },
    run: null,
    at: 100,
    ...change,
  })

/** What every Store does with alerts, whatever is under it. `open` gives an empty one. */
export function alertConformance(name: string, open: () => Promise<Store>): void {
  describe(`${name}: alerts`, () => {
    let store: Store
    beforeEach(async () => {
      store = await open()
    })
    afterEach(() => store.close())

    it('are written once', async () => {
      const alert = alertOf('x')
      await store.alerts.put(alert)
      await store.alerts.put(alert)
      expect(await store.alerts.get(alert.id)).toEqual(alert)
      expect(await store.alerts.get(alertOf('z').id)).toBeNull()
      await expect(store.alerts.put(alertOf('x', { message: 'All is well.' }))).rejects.toThrow(RecordConflictError)
      await expect(store.alerts.put({ ...alertOf('y'), evidence: { n: Number.NaN } })).rejects.toThrow(
        UnstorableValueError,
      )
      expect(await store.alerts.list({ limit: 9 })).toEqual([alert])
    })

    it('note the run that they opened, and keep it', async () => {
      await store.alerts.put(alertOf('x'))
      await store.alerts.put(alertOf('x', { run: 'run-1' }))
      expect((await store.alerts.get(alertOf('x').id))?.run).toBe('run-1')
      await store.alerts.put(alertOf('x'))
      expect((await store.alerts.get(alertOf('x').id))?.run).toBe('run-1')
      const other = alertOf('x', { run: 'run-2', message: 'All is well.' })
      await expect(store.alerts.put(other)).rejects.toThrow(RecordConflictError)
      await store.alerts.put({ ...alertOf('x'), run: RunId.parse('run-2') })
      expect(await store.alerts.list({ limit: 9 })).toEqual([alertOf('x', { run: 'run-2' })])
    })

    it('are listed newest first, by agent, kind and time', async () => {
      await store.alerts.put(alertOf('x', { at: 300 }))
      await store.alerts.put(alertOf('y', { at: 100.5, kind: 'flood' }))
      await store.alerts.put(alertOf('z', { at: 200, agent: 'sales' }))
      await store.alerts.put(alertOf('w', { at: 200, kind: 'flood' }))
      const ids = async (filter: Parameters<typeof store.alerts.list>[0]) =>
        (await store.alerts.list(filter)).map(({ id }) => id)
      expect(await ids({ limit: 9 })).toEqual(['x', 'w', 'z', 'y'])
      expect(await ids({ limit: 2 })).toEqual(['x', 'w'])
      expect(await ids({ agent: 'support', limit: 9 })).toEqual(['x', 'w', 'y'])
      expect(await ids({ kind: 'flood', limit: 9 })).toEqual(['w', 'y'])
      expect(await ids({ since: 200, limit: 9 })).toEqual(['x', 'w', 'z'])
      expect(await ids({ agent: 'support', kind: 'drift', since: 301, limit: 9 })).toEqual([])
    })

    it('lose the names of trajectories that are removed', async () => {
      await store.traffic.append(traffic.call('t1', 'c1', { origin: { subject: 'ada' } }))
      await store.alerts.put(alertOf('x', { evidence: { sessions: ['t1', 't2'] } }))
      await store.alerts.put(alertOf('y'))
      const removed = await store.trajectories.remove({ subject: 'ada' }, { dryRun: false })
      expect(removed).toMatchObject({ trajectories: 1, derived: 1, versions: [] })
      expect((await store.alerts.get(alertOf('x').id))?.evidence).toEqual({ sessions: ['[removed]', 't2'] })
      expect(await store.alerts.get(alertOf('y').id)).toEqual(alertOf('y'))
    })
  })
}
