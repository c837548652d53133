import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { writeGguf } from '../../../../../test/support/gguf.ts'
import { tinyGguf } from '../../../../../test/support/tiny-gguf.ts'
import { InputError } from '../../../../errors/index.ts'
import { loadGguf } from './load-gguf.ts'

let folder: string
const whole = new Uint8Array(writeGguf(tinyGguf()))
/** The file's bytes, its numbers in f32, and what is made of its header. */
const most = 4 * whole.length

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ratchet-gguf-fuzz-'))
})
afterAll(() => rm(folder, { recursive: true }))

const place = fc.nat({ max: whole.length - 1 })
/** A file that was cut, or had bytes or a whole number changed: counts, lengths and offsets are such numbers. */
const damage = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), at: place }),
  fc.record({
    kind: fc.constant('bytes' as const),
    at: fc.array(fc.tuple(place, fc.nat({ max: 255 })), { minLength: 1, maxLength: 8 }),
  }),
  fc.record({
    kind: fc.constant('number' as const),
    at: place,
    value: fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      fc.constantFrom(2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n),
    ),
  }),
)

type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never

function damaged(how: Damage): Uint8Array {
  if (how.kind === 'cut') return whole.slice(0, how.at)
  const bytes = whole.slice()
  if (how.kind === 'bytes') for (const [at, value] of how.at) bytes[at] = value
  else new DataView(bytes.buffer).setBigUint64(Math.min(how.at, bytes.length - 8), how.value, true)
  return bytes
}

/** Bytes that typed arrays are made of while work is under way, by their lengths. */
async function allocatedBy(work: () => Promise<unknown>): Promise<number> {
  const real = { Uint8Array, Float32Array, Int32Array, Uint32Array, Uint16Array, Array }
  let bytes = 0
  const counted = <T extends object>(made: T, size: number): T =>
    new Proxy(made, {
      construct(target, given, newTarget) {
        if (given.length === 1 && typeof given[0] === 'number') bytes += given[0] * size
        return Reflect.construct(target as never, given, newTarget) as object
      },
    })
  const sizes = { Uint8Array: 1, Float32Array: 4, Int32Array: 4, Uint32Array: 4, Uint16Array: 2, Array: 8 }
  for (const name of Object.keys(real) as (keyof typeof real)[])
    Object.assign(globalThis, { [name]: counted(real[name], sizes[name]) })
  try {
    await work()
    return bytes
  } finally {
    Object.assign(globalThis, real)
  }
}

it('a damaged file is an error that says what is wrong, or a model, and costs no more memory than the file', async () => {
  const path = join(folder, 'damaged.gguf')
  const seen = { errors: 0, models: 0 }
  const load = () =>
    loadGguf(path).then(
      () => void seen.models++,
      (error: unknown) => {
        if (!(error instanceof InputError)) throw error
        expect(error.hint).not.toBe('')
        seen.errors++
      },
    )
  await writeFile(path, whole)
  const usual = await allocatedBy(load)
  expect(usual).toBeGreaterThan(whole.length)
  expect(usual).toBeLessThan(most)
  await fc.assert(
    fc.asyncProperty(damage, async (how) => {
      await writeFile(path, damaged(how))
      expect(await allocatedBy(load)).toBeLessThan(most)
    }),
    { numRuns: 400 },
  )
  expect(seen.errors).toBeGreaterThan(100)
  expect(seen.models).toBeGreaterThan(10)
})
