import { expect, it } from 'vitest'
import { TrajectoryId } from '../../core/index.ts'
import { LastSaid } from './signal-key.ts'

it('reads the evidence of one trajectory at a time', async () => {
  let reading = 0
  let most = 0
  const last = new LastSaid({
    of: async () => {
      reading += 1
      most = Math.max(most, reading)
      await Promise.resolve()
      reading -= 1
      return []
    },
  })
  const said = {
    tenant: 'acme',
    node: null,
    source: 'user',
    reporter: 'k',
    name: 'thumbs',
    value: true,
    at: 1,
  } as const
  await last.read(['t_1', 't_2', 't_3'].map((id) => ({ ...said, trajectory: TrajectoryId.parse(id) })))
  expect(most).toBe(1)
})
