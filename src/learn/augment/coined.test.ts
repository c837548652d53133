import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rng } from '../../core/index.ts'
import { asPart, coinedName } from './coined.ts'
import { replaced } from './retell.ts'

const english = ['button', 'green', 'window', 'river', "it's"]
const coined = (like: string, seed = 0) => coinedName(like, english, rng('coined', seed))
const shapeOf = (name: string) => name.replace(/\p{Lu}?\p{Ll}+|\p{Lu}+/gu, 'x')

describe('a coined name', () => {
  it.each(['iframe.allow', 'RTCStats_type', 'hyphenate-limit-lines', 'Cole', 'gas belt', 'at()'])(
    'has the shape of %s, and other words in it',
    (like) => {
      for (let seed = 0; seed < 50; seed++) {
        const { name } = coined(like, seed)
        expect(name).not.toBe(like)
        expect(shapeOf(name)).toBe(shapeOf(like))
      }
    },
  )

  it('keeps small and capital letters as they were', () => {
    expect(coined('SVG.image').name).toMatch(/^[A-Z]+\.[a-z]+$/)
    expect(coined('Cole').name).toMatch(/^[A-Z][a-z]+$/)
  })

  it('has as many digits', () => {
    const names = Array.from({ length: 20 }, (_, seed) => coined('4711', seed).name)
    for (const name of names) expect(name).toMatch(/^\d{4}$/)
    expect(new Set(names).size).toBeGreaterThan(10)
  })

  it('is another word that people use half of the time where the own one is', () => {
    const names = Array.from({ length: 100 }, (_, seed) => coined('river', seed).name)
    const words = names.filter((name) => english.includes(name))
    expect(words.length).toBeGreaterThan(30)
    expect(words.length).toBeLessThan(70)
    expect(
      Array.from({ length: 100 }, (_, seed) => coined('oak', seed).name).filter((name) => english.includes(name)),
    ).toEqual([])
  })

  it('has the same word where the own one was repeated', () => {
    for (let seed = 0; seed < 20; seed++) {
      const [first, second] = coined('import.import', seed).name.split('.')
      expect(first).toBe(second)
    }
  })

  it('comes of any text, without words to make it of, too', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), (like, seed) => {
        const { name, parts } = coinedName(like, [], rng('any', seed))
        expect(name === like).toBe([...parts].every(([part, other]) => part === other))
      }),
    )
  })
})

it('a part is told where it is a part of other names, and not within words', () => {
  const told = (text: string, part: string) => replaced(text, [asPart(part, 'x')])
  expect(told('iframe.allow iframe.allow.usb allowed disallow', 'allow')).toBe('iframe.x iframe.x.usb allowed disallow')
  expect(told('Push PushManager getPush Pushed', 'Push')).toBe('x xManager getx Pushed')
  expect(told('SVG SVGElement', 'SVG')).toBe('x xElement')
})
