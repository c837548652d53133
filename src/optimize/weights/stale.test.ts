import { expect, it } from 'vitest'
import { withinGenerations } from './stale.ts'

const cut = (generations: number) => withinGenerations([5, 3, 4, 2, 6], (g) => g, { current: 5, generations })

it('keeps what is at most so many generations old, in its order, and gives the rest apart', () => {
  expect(cut(1)).toEqual({ kept: [5, 4, 6], stale: [3, 2] })
  expect(cut(0)).toEqual({ kept: [5, 6], stale: [3, 4, 2] })
  expect(cut(9)).toEqual({ kept: [5, 3, 4, 2, 6], stale: [] })
})

it.each([-1, 0.5, Number.NaN])('cannot keep %s generations', (generations) => {
  expect(() => cut(generations)).toThrow(expect.objectContaining({ code: 'optimize/bad-option' }))
})
