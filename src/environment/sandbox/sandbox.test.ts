import { describe, expect, it } from 'vitest'
import type { Json } from '../../core/index.ts'
import { runInSandbox, type SandboxHost } from './index.ts'

const call = (name: string, ...args: Json[]) => ({ call: { name, args } })

describe('code in a sandbox', () => {
  it('returns the value of its last expression, or of a call', async () => {
    expect(await runInSandbox('const a = 20; ({ sum: a + 22 })')).toEqual({ kind: 'returned', value: { sum: 42 } })
    const code = 'const add = (a, b) => a + b'
    expect(await runInSandbox(code, call('add', 1, 2))).toEqual({ kind: 'returned', value: 3 })
    expect(await runInSandbox('(x) => x')).toEqual({ kind: 'returned', value: null })
  })

  it('takes arguments as they are', async () => {
    const value = { text: '`${x}`\u2028"\\</script>', list: [1, null, true, { ['__proto__x']: [] }] }
    expect(await runInSandbox('function same(x) { return x }', call('same', value))).toEqual({
      kind: 'returned',
      value,
    })
  })

  it.each([
    ['a syntax error', 'let (', /./],
    ['an error', 'throw new TypeError("no")', /^no$/],
    ['no function of that name', 'const other = 1', /'f' is not defined/],
    ['what is no function', 'const f = 1', /not a function/],
    ['endless recursion', 'const f = () => f() + 1', /stack|recursion/],
  ])('%s is told', async (_, code, message) => {
    expect(await runInSandbox(code, call('f'))).toEqual({
      kind: 'threw',
      message: expect.stringMatching(message) as string,
    })
  })

  it.each(['process', 'require', 'fetch', 'setTimeout', 'globalThis.process', 'WebAssembly', 'std', 'os', 'module'])(
    'reaches no %s',
    async (name) => {
      expect(await runInSandbox(`typeof ${name}`)).toEqual({ kind: 'returned', value: 'undefined' })
    },
  )

  it('imports nothing', async () => {
    expect(await runInSandbox('import fs from "node:fs"; fs')).toMatchObject({ kind: 'threw' })
    // A promise that is never awaited, and holds no module.
    expect(await runInSandbox('let got = null; import("node:fs").then((fs) => { got = fs }); got')).toMatchObject({
      value: null,
    })
  })

  it('a loop ends when its steps are spent, in the code and in the call', async () => {
    expect(await runInSandbox('for (;;) {}', { steps: 100_000 })).toEqual({ kind: 'steps' })
    expect(
      await runInSandbox('const f = () => { for (;;) { try { g() } catch {} } }', { ...call('f'), steps: 100_000 }),
    ).toEqual({
      kind: 'steps',
    })
  })

  it.each([
    ['text', 'const all = []; for (;;) all.push("x".repeat(100_000) + all.length)'],
    ['blocks', 'const all = []; for (;;) all.push(new Uint8Array(100_000))'],
    ['objects, so that none is left for the error', 'const all = []; for (;;) all.push({})'],
  ])('a cap holds its memory: %s', async (_, greedy) => {
    // A busy machine is slow to fill it.
    const limits = { memoryBytes: 4_194_304, deadlineMs: 120_000 }
    expect(await runInSandbox(greedy, limits)).toEqual({ kind: 'memory' })
  })

  it('a cap holds what code takes piece by piece', async () => {
    const greedy = 'const all = []; try { for (;;) all.push(new Uint8Array(1_000)) } catch {} all.length'
    const most = async (memoryBytes: number) => {
      const outcome = await runInSandbox(greedy, { memoryBytes, steps: 1e9, deadlineMs: 120_000 })
      return outcome.kind === 'returned' ? Number(outcome.value) * 1_000 : 0
    }
    const [small, large] = [await most(2_097_152), await most(16_777_216)]
    expect(small).toBeGreaterThan(2_000_000)
    expect(large - small).toBeGreaterThan(10_000_000)
    expect(large).toBeLessThan(32_000_000)
  })

  it('arguments count as its memory, and end the code and not the sandbox', async () => {
    const code = 'const f = (text) => text.length'
    const limits = { memoryBytes: 4_194_304, deadlineMs: 120_000 }
    expect(await runInSandbox(code, { ...call('f', 'x'.repeat(10_000_000)), ...limits })).toEqual({ kind: 'memory' })
  })

  it('an argument has "__proto__" as a key like any other', async () => {
    const given = JSON.parse('{"__proto__":{"admin":true}}') as Json
    expect(await runInSandbox('const f = (x) => x.admin ?? "none"', call('f', given))).toMatchObject({ value: 'none' })
  })

  it('the clock ends one step that takes forever', async () => {
    // Native, and so without a look at the steps.
    expect(await runInSandbox('[].indexOf.call({ length: 2 ** 53 - 1 }, 1)', { deadlineMs: 1_500 })).toMatchObject({
      kind: 'deadline',
    })
  })

  it('cannot take the place of how its value is read', async () => {
    const code = 'JSON.stringify = () => "1"; Object.is = () => true; const f = () => ({ a: 2 })'
    expect(await runInSandbox(code, call('f'))).toMatchObject({ value: { a: 2 } })
  })

  it('refuses what it does not know', async () => {
    await expect(runInSandbox('1', call('a()'))).rejects.toThrow(/no name of a function/)
    await expect(runInSandbox('1', { memoryBytes: 1 })).rejects.toMatchObject({ code: 'input/invalid' })
  })
})

describe('a host', () => {
  const echo: SandboxHost = async (asked) => ({ asked })

  it.each(['own', 'kept'] as const)('answers what the code asks, as JSON, in a thread of its %s', async (thread) => {
    const code = 'const f = (n) => [host(n), host({ n: n + 1 }), host("\u2028"), host(f)]'
    expect(await runInSandbox(code, { ...call('f', 1), thread }, echo)).toEqual({
      kind: 'returned',
      value: [{ asked: 1 }, { asked: { n: 2 } }, { asked: '\u2028' }, { asked: null }],
    })
  })

  it('is not there where none is given', async () => {
    expect(await runInSandbox('typeof host')).toEqual({ kind: 'returned', value: 'undefined' })
  })

  it('takes its time: the clock measures the code’s own', async () => {
    const slow: SandboxHost = () => new Promise((resolve) => setTimeout(() => resolve('late'), 3_000))
    await runInSandbox('1', { thread: 'kept' })
    expect(await runInSandbox('host(1)', { thread: 'kept', deadlineMs: 2_500 }, slow)).toEqual({
      kind: 'returned',
      value: 'late',
    })
  })

  it('that throws ends the code, which cannot catch it, and whoever ran it is told', async () => {
    const failing: SandboxHost = () => Promise.reject(new RangeError('no more'))
    for (const thread of ['own', 'kept'] as const)
      await expect(runInSandbox('try { host(1) } catch {} 2', { thread }, failing)).rejects.toThrow('no more')
    expect(await runInSandbox('2', { thread: 'kept' })).toEqual({ kind: 'returned', value: 2 })
  })
})

describe('a thread that is kept', () => {
  const kept = { thread: 'kept' } as const

  it('shows one code nothing of another', async () => {
    expect(await runInSandbox('globalThis.secret = 1; Array.prototype.x = 2; 3', kept)).toMatchObject({ value: 3 })
    expect(await runInSandbox('[typeof secret, [].x ?? null]', kept)).toMatchObject({ value: ['undefined', null] })
  })

  it('is another one after code that did not end', async () => {
    expect(await runInSandbox('for (;;) {}', { ...kept, steps: 100_000 })).toEqual({ kind: 'steps' })
    expect(await runInSandbox('1', kept)).toEqual({ kind: 'returned', value: 1 })
  })

  it('serves many at once', async () => {
    const codes = Array.from({ length: 40 }, (_, i) => runInSandbox(`host(${i})`, kept, async (asked) => asked))
    expect((await Promise.all(codes)).map((outcome) => ('value' in outcome ? outcome.value : null))).toEqual(
      codes.map((_, i) => i),
    )
  })
})
