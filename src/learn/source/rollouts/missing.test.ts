import { expect, it } from 'vitest'
import { readerTasks, runReader } from '../../../../test/support/reader.ts'
import { wordEnvironment } from '../../../../test/support/word-environment.ts'
import type { Environment } from '../../../core/index.ts'
import { openMemoryStore } from '../../../store/index.ts'
import type { LearnEvent } from '../../events.ts'

/** Knows a task by its instruction, and no other. */
const keyed: Environment = {
  name: 'keyed',
  open(task, seed) {
    const known = readerTasks.some(({ instruction }) => instruction === task.instruction)
    if (!known) throw new Error(`no such question: ${task.instruction}`)
    return wordEnvironment.open(task, seed)
  },
}

async function found(environment: Environment, rewording: number): Promise<readonly LearnEvent[]> {
  const store = await openMemoryStore()
  const { events } = await runReader(store, {
    environment,
    schedule: { rewording, updates: 3, validationTasks: 4, holdoutTasks: 8 },
    check: false,
  })
  await store.close()
  return events.filter(({ type }) => type === 'found')
}

it('an environment that fails on other words is told with its error and what to do, again only where it is far worse', async () => {
  const findings = await found(keyed, 1)
  const shares = findings.flatMap((event) => (event.type === 'found' ? [event.n / event.of] : []))
  expect(shares.length).toBeGreaterThan(0)
  for (const [i, share] of shares.slice(1).entries()) expect(share).toBeGreaterThanOrEqual(2 * (shares[i] ?? 1))
  expect(findings[0]).toMatchObject({
    severity: 'warn',
    code: 'learn/missing-reward',
    message: expect.stringMatching(/of \d+ attempts earn no reward.*environment-error.*no such question: /),
    hint: expect.stringContaining('rewording'),
  })
})

it('where every attempt has a reward, nothing is told', async () => {
  expect(await found(wordEnvironment, 1)).toEqual([])
  expect(await found(keyed, 0)).toEqual([])
})
