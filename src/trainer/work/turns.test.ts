import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { Turns } from './turns.ts'

it('does work beside other work, and what is alone beside none; what fails holds up nothing', async () => {
  const works = fc.array(fc.record({ alone: fc.boolean(), ticks: fc.nat(4), fails: fc.boolean() }), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(works, async (planned) => {
      const turns = new Turns()
      const underWay = new Set<number>()
      const begun: number[] = []
      const results = planned.map(({ alone, ticks, fails }, i) =>
        turns.do(async () => {
          underWay.add(i)
          begun.push(i)
          for (let tick = 0; tick <= ticks; tick++) {
            const apart = [...underWay].some((other) => planned[other]?.alone)
            if (apart) expect([...underWay]).toEqual([i])
            await Promise.resolve()
          }
          underWay.delete(i)
          if (fails) throw new Error('failed')
          return i
        }, alone),
      )
      const ended = await Promise.allSettled(results)
      expect(ended.map(({ status }) => status)).toEqual(planned.map(({ fails }) => (fails ? 'rejected' : 'fulfilled')))
      // What is alone begins after all before it, and before all behind it.
      planned.forEach(({ alone }, i) => {
        if (alone) expect(begun.indexOf(i)).toBe(i)
      })
    }),
  )
})
