import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { OneAtATime } from './turns.ts'

it('does work one at a time, in its order, whatever becomes of it', async () => {
  const line = new OneAtATime()
  let [now, most] = [0, 0]
  const done: number[] = []
  const all = Array.from({ length: 6 }, (_, i) =>
    line.run(async () => {
      most = Math.max(most, ++now)
      await delay(6 - i)
      now -= 1
      done.push(i)
      if (i % 2 === 0) throw new Error(`no ${i}`)
      return i
    }),
  )
  const outcomes = await Promise.allSettled(all)
  expect(most).toBe(1)
  expect(done).toEqual([0, 1, 2, 3, 4, 5])
  expect(outcomes.map(({ status }) => status)).toEqual(
    Array.from({ length: 3 }, () => ['rejected', 'fulfilled']).flat(),
  )
})
