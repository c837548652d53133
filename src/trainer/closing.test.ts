import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tinyService } from '../../test/support/served-trainer.ts'
import { TrainerHost } from './host.ts'

it('closing waits for a tidy under way, which ends no more sessions, and fails at nothing', async () => {
  const service = await tinyService()
  const options = {
    service,
    folder: mkdtempSync(join(tmpdir(), 'ratchet-trainer-closing-')),
    onFatal: (error: unknown) => expect.unreachable(String(error)),
  }
  const host = await TrainerHost.open(options)
  for (const id of ['a', 'b', 'c']) await host.append({ type: 'session', session: { id, owner: 'open' } })
  const order: string[] = []
  const tidied = host.tidy(() => true).then(() => order.push('tidied'))
  await host.close()
  order.push('closed')
  await tidied
  expect(order).toEqual(['tidied', 'closed'])
  // One that begins then does nothing.
  await host.tidy(() => true)
  const again = await TrainerHost.open(options)
  expect([...again.state.sessions.keys()]).toEqual(['b', 'c'])
  await again.close()
  await service.close()
})
