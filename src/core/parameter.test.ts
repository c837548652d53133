import { describe, expect, it } from 'vitest'
import { RunId, VersionId } from './id.ts'
import { mintVersion, ParameterName, ParameterValue, Version } from './parameter.ts'

const origin = { parents: [], run: null }
const prompt = { kind: 'text', text: 'Be brief.' } as const

describe('mintVersion', () => {
  it('gives equal values of one Parameter one id, whoever made them', () => {
    const first = mintVersion('system', prompt, origin)
    const again = mintVersion('system', prompt, { parents: [VersionId.parse('p')], run: RunId.parse('r') })
    expect(again.id).toBe(first.id)
    expect(Version.parse(again)).toEqual(again)
  })

  it('tells apart other values and other Parameters', () => {
    const hashes = [
      mintVersion('system', prompt, origin),
      mintVersion('tone', prompt, origin),
      mintVersion('system', { ...prompt, text: 'Be brief!' }, origin),
      mintVersion('system', { kind: 'weights', base: 'b', baseHash: 'b-content', adapter: null }, origin),
    ].map(({ id }) => id)
    expect(new Set(hashes).size).toBe(4)
  })
})

it('keeps values of kinds that no room reads yet whole', () => {
  const value = { kind: 'memory', value: { items: [{ utility: 0.5 }] } }
  expect(ParameterValue.parse(value)).toEqual(value)
})

it.each(['', '1st', 'a b', '__proto__', '../x', 'x'.repeat(65), 'constructor', 'toString'])(
  '%j cannot name a Parameter',
  (name) => {
    expect(ParameterName.safeParse(name).success).toBe(false)
  },
)

it('refuses an adapter that is no blob', () => {
  expect(ParameterValue.safeParse({ kind: 'weights', base: 'b', baseHash: 'b-content', adapter: 'abc' }).success).toBe(
    false,
  )
})
