import { describe, expect, it } from 'vitest'
import { mostAtOnce, readInParts } from './reading.ts'
import { redactionOf, rulesOf } from './redaction.ts'

const filler = (length: number) => 'words and words '.repeat(Math.ceil(length / 16)).slice(0, length)
const address = 'jo@example.org'

/** Turns of the event loop while something is done. */
async function turnsDuring<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly turns: number }> {
  let turns = 0
  let over = false
  const count = () => {
    turns += 1
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  const result = await work()
  over = true
  return { result, turns }
}

describe('what is read in parts', () => {
  const rules = rulesOf(['email'], { kept: new Set(), patience: null })

  it('is what it would be read at once, and others have their turns between the parts', async () => {
    const texts = Array.from({ length: 40 }, (_, i) => `${filler(mostAtOnce / 4)} ${i} ${address}`)
    const elsewhere = () => Promise.reject(new Error('nothing is long'))
    const { result, turns } = await turnsDuring(() =>
      readInParts(rules, elsewhere, (by) => texts.map((text) => by.redact(text))),
    )
    expect(result).toEqual(texts.map((text) => rules.redact(text)))
    expect(turns).toBeGreaterThan(8)
  })

  it('asks another thread for a long text, once', async () => {
    const long = `${filler(mostAtOnce)} ${address}`
    const asked: string[] = []
    const result = await readInParts(
      rules,
      async (text) => {
        asked.push(text)
        return rules.redact(text)
      },
      (by) => [by.redact(long), by.redact(address), by.redact(long)].map(({ value }) => value.slice(-8)),
    )
    expect(result).toEqual([' [email]', '[email]', ' [email]'])
    expect(asked).toEqual([long])
  })

  it('has its turns when texts are short and rules are slow, and ends with a few that took too long', async () => {
    const redaction = redactionOf([{ name: 'slow', pattern: 'a*a*a*a*b' }])
    const texts = Array.from({ length: 30 }, (_, i) => `${'a'.repeat(5_000)} ${i}`)
    const said = ['an ab', ...texts, 'another ab']
    const { result, turns } = await turnsDuring(() =>
      redaction.reading((by) => said.map((text) => by.redact(text).value)),
    )
    // What was read in time is written; whatever follows three that were not is withheld, read or not.
    expect(result).toEqual(['an [slow]', ...texts.map(() => '[unread]'), '[unread]'])
    expect(turns).toBeGreaterThanOrEqual(2)
  })

  it('gives others their turn before a text that was late is tried again', async () => {
    const redaction = redactionOf([{ name: 'slow', pattern: 'a*a*a*a*b' }])
    const { result, turns } = await turnsDuring(() => redaction.reading((by) => by.redact('a'.repeat(5_000)).value))
    expect(result).toBe('[unread]')
    expect(turns).toBeGreaterThanOrEqual(1)
  })

  it('has one limit with whatever else is read of the same request, and no other', async () => {
    const late: string[] = []
    const redaction = redactionOf([{ name: 'slow', pattern: '\\d+\\d+x' }], { onUnread: () => late.push('late') })
    const request = redaction.together()
    const texts = Array.from({ length: 6 }, (_, i) => String(i).repeat(12_000))
    expect(await request.reading((by) => by.redact('it is 12x').value)).toBe('it is [slow]')
    for (const text of [texts[0], ...texts]) {
      expect(await request.reading((by) => by.redact(text ?? '').value)).toBe('[unread]')
    }
    expect(await request.reading((by) => by.redact('it is 12x').value)).toBe('[unread]')
    expect(late).toHaveLength(3)
    expect(await redaction.together().reading((by) => by.redact('it is 12x').value)).toBe('it is [slow]')
    expect(await redaction.reading((by) => by.redact('it is 12x').value)).toBe('it is [slow]')
  })

  it('is not late where the client itself says what stands for a late text', async () => {
    const request = redactionOf([{ name: 'slow', pattern: '\\d+\\d+x' }]).together()
    for (let i = 0; i < 4; i += 1) {
      expect(await request.reading((by) => by.redact('[unread]'))).toEqual({ value: '[unread]', changed: false })
    }
    expect(await request.reading((by) => by.redact('it is 12x').value)).toBe('it is [slow]')
  })

  it('fails as what is read fails', async () => {
    const broken = () => {
      throw new TypeError('unreadable')
    }
    await expect(readInParts(rules, () => Promise.reject(new Error()), broken)).rejects.toThrow('unreadable')
  })
})

describe('a long text', () => {
  it('is redacted in another thread: the event loop goes on', async () => {
    const text = `${filler(4_000_000)} ${address}`
    const { result, turns } = await turnsDuring(() => redactionOf(['email', 'card']).reading((by) => by.redact(text)))
    expect(result).toEqual({ value: `${filler(4_000_000)} [email]`, changed: true })
    expect(turns).toBeGreaterThan(3)
  })

  it('that a rule cannot be applied to is not written', async () => {
    const redaction = redactionOf([{ name: 'run', pattern: '^(?:x|y)+z' }])
    expect(await redaction.reading((by) => by.redact('x'.repeat(12_000_000)))).toEqual({
      value: '[unread]',
      changed: true,
    })
  })
})
