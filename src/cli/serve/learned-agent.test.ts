import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Json, RunId } from '../../core/index.ts'
import { LearnConfig } from '../../recipe/index.ts'
import { openStore } from '../../store/index.ts'
import { learnedAgent } from './learned-agent.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-learned-agent-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A store with a run for each configuration, one a second. */
async function storeOf(...configs: readonly Json[]): Promise<{ readonly store: string }> {
  const store = await openStore({ path: join(folder, 'ratchet.db') })
  for (const [i, config] of configs.entries()) {
    await store.runs.create({
      id: RunId.parse(`run-${i}`),
      agent: 'librarian',
      config,
      seed: 0,
      status: 'completed',
      versionsIn: {},
      versionsOut: null,
      receipt: null,
      release: null,
      failure: null,
      startedAt: 1000 * i,
      endedAt: null,
    })
  }
  await store.close()
  return { store: folder }
}

const learned = (config: object): Json => ({ learn: LearnConfig.parse(config) as unknown as Json, control: false })

describe('what serves a learned agent', () => {
  it('is the model of its latest run, laid out and rounded as there', async () => {
    const flags = await storeOf(
      learned({ model: 'old', precision: 'float32' }),
      learned({ model: 'small', precision: 'int8', adapter: { rank: 4 } }),
      learned({ agent: 'painter', model: 'other' }),
      { source: 'a program of its own' },
    )
    expect(await learnedAgent(flags, 'librarian')).toEqual({
      upstreams: [{ name: 'embedded', url: 'embedded', model: 'small', renderer: 'compact', precision: 'int8' }],
      agents: [{ name: 'librarian', model: 'small', rank: 4 }],
    })
  })

  it('is at the server that it learned at', async () => {
    const server = { url: 'http://127.0.0.1:8000', kind: 'skyrl-jax' }
    const { upstreams } = await learnedAgent(await storeOf(learned({ server })), 'librarian')
    expect(upstreams).toMatchObject([{ name: 'tinker', url: 'tinker', server, precision: 'auto' }])
  })

  it('is refused where no run taught it', async () => {
    const flags = await storeOf(learned({ agent: 'painter' }), { source: 'a program of its own' })
    await expect(learnedAgent(flags, 'librarian')).rejects.toMatchObject({
      code: 'input/nothing-learned',
      message: expect.stringContaining('there are runs of: painter.') as string,
    })
  })
})
