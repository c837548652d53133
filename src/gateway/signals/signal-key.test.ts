import { expect, it } from 'vitest'
import { type SignalRepository, TrajectoryId } from '../../core/index.ts'
import { LastSaid } from './signal-key.ts'

const said = {
  tenant: 'acme',
  node: null,
  source: 'user',
  reporter: 'k',
  name: 'thumbs',
  value: true,
  at: 1,
  trajectory: TrajectoryId.parse('t_1'),
} as const

it('asks once for each topic, one after the other, and for no more than what the signal could repeat', async () => {
  const asked: { readonly name: string; readonly bytes: number }[] = []
  let reading = 0
  const last = new LastSaid({
    last: async ({ name }, bytes) => {
      expect((reading += 1)).toBe(1)
      asked.push({ name, bytes })
      await Promise.resolve()
      reading -= 1
      return null
    },
  })
  const long = { ...said, name: 'note', value: 'ж'.repeat(10) }
  await last.read([said, { ...said, value: false }, long, said])
  expect(asked).toEqual([
    { name: 'thumbs', bytes: 4 },
    { name: 'note', bytes: 22 },
  ])
})

it('knows what was said last from another value, of which only the length is known', async () => {
  const keyAfter = async (before: Awaited<ReturnType<SignalRepository['last']>>) => {
    const last = new LastSaid({ last: () => Promise.resolve(before) })
    await last.read([said])
    return last.keyOf(said)
  }
  expect(await keyAfter({ key: 'k1', at: 0, value: true })).toBe('k1')
  const others = [
    await keyAfter(null),
    await keyAfter({ key: 'k1', at: 0 }),
    await keyAfter({ key: 'k1', at: 0, value: null }),
  ]
  expect(others).not.toContain('k1')
  expect(new Set(others).size).toBe(2)
})
