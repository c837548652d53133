import { afterEach, expect, it } from 'vitest'
import type { JsonSchema } from '../../../core/index.ts'
import { ebnfOf } from './ebnf.ts'
import { GrammarTrial } from './trial.ts'

const letters = Array.from({ length: 128 }, (_, code) => (code > 32 ? String.fromCharCode(code) : ''))
const ebnf = (schema: JsonSchema) => ebnfOf({ kind: 'json', schema })

let trial = new GrammarTrial({ vocabulary: () => letters })
afterEach(() => trial.close())

it('admits what compiles, and refuses what does not, again and again', async () => {
  trial = new GrammarTrial({ vocabulary: () => letters, patience: 20_000 })
  await trial.admit(ebnf({ type: 'object' }))
  const malformed = { code: 'model/unusable-grammar', message: expect.stringContaining('xgrammar') as string }
  await expect(trial.admit('root ::= gone')).rejects.toMatchObject(malformed)
  await expect(trial.admit('root ::= gone')).rejects.toMatchObject(malformed)
  await Promise.all([trial.admit(ebnf({ type: 'array' })), trial.admit(ebnf({ type: 'array' }))])
}, 60_000)

it('compiles schemas that name only themselves', async () => {
  trial = new GrammarTrial({ vocabulary: () => letters, patience: 20_000 })
  const loop = { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] } } }
  const endless = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }
  for (const one of [loop, endless])
    await trial
      .admit(ebnf(one))
      .catch((error: unknown) => expect(error).toMatchObject({ code: 'model/unusable-grammar' }))
  await trial.admit(ebnf({ type: 'object' }))
}, 60_000)

it('does not try what nobody waits for any more', async () => {
  trial = new GrammarTrial({ vocabulary: () => letters, patience: 20_000 })
  const gone = AbortSignal.abort()
  expect(await trial.admit('root ::= gone', gone)).toBe(false)
  expect(await trial.admit(ebnf({ type: 'null' }))).toBe(true)
  expect(await trial.admit(ebnf({ type: 'null' }), gone)).toBe(true)
}, 60_000)

it('gives up what takes too long, remembers it, and goes on with others', async () => {
  const words = Array.from({ length: 20_000 }, (_, i) => `word${i}`)
  trial = new GrammarTrial({ vocabulary: () => [...letters, ...words], patience: 2_000 })
  const slow = ebnf({ items: { type: 'string', minLength: 40, maxLength: 1_000 } })
  const tooLong = { message: expect.stringContaining('longer than 2000 ms') as string }
  await expect(trial.admit(slow)).rejects.toMatchObject(tooLong)
  await trial.admit(ebnf({ type: 'boolean' }))
  const start = performance.now()
  await expect(trial.admit(slow)).rejects.toMatchObject(tooLong)
  expect(performance.now() - start).toBeLessThan(500)
}, 60_000)

it('tries a small one before large ones that came first', async () => {
  trial = new GrammarTrial({ vocabulary: () => letters, patience: 20_000 })
  const done: string[] = []
  const admit = async (name: string, schema: JsonSchema) => {
    await trial.admit(ebnf(schema))
    done.push(name)
  }
  const large = (size: number) => ({ enum: Array.from({ length: size }, (_, i) => i) })
  await Promise.all([
    admit('first', large(40)),
    admit('larger', large(60)),
    admit('large', large(50)),
    admit('small', { type: 'null' }),
  ])
  expect(done).toEqual(['first', 'small', 'large', 'larger'])
}, 60_000)

it('refuses what waits when it is closed', async () => {
  trial = new GrammarTrial({ vocabulary: () => letters, patience: 20_000 })
  const waiting = [{ type: 'null' }, { type: 'boolean' }, { type: 'object' }].map((one) => trial.admit(ebnf(one)))
  const all = Promise.allSettled(waiting)
  await trial.close()
  for (const { status } of await all) expect(status).toBe('rejected')
}, 60_000)
