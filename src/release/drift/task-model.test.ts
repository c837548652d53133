import { describe, expect, it } from 'vitest'
import { featuresOf, NO_TASKS, noveltyOf, withTask } from './task-model.ts'

describe('featuresOf', () => {
  it('reads different words, whatever their case, all numbers as one, and tools apart from words', () => {
    expect(featuresOf('Pay pay 17 and 18', [])).toEqual(featuresOf('pay, 99 AND', []))
    expect(featuresOf('pay 17 and', [])).toHaveLength(3)
    expect(featuresOf('search', [])).not.toEqual(featuresOf('', ['search']))
    expect(featuresOf('Überweisung 日本', [])).toHaveLength(2)
  })

  it('reads no further than it must', () => {
    expect(featuresOf('word '.repeat(1_000_000), [])).toHaveLength(1)
  })
})

describe('noveltyOf', () => {
  it('is the mean surprise of the features, each count raised by a half', () => {
    const model = withTask(withTask(NO_TASKS, [1, 2]), [1])
    // ln((3 + 512) / 2.5) and ln((3 + 512) / 0.5)
    expect(noveltyOf(model, [1])).toBeCloseTo(5.32788, 5)
    expect(noveltyOf(model, [1, 9])).toBeCloseTo((5.32788 + 6.93731) / 2, 5)
    expect(noveltyOf(model, [])).toBeNull()
  })
})
