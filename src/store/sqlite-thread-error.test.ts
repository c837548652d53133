import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvariantError, RatchetError } from '../errors/index.ts'
import * as storeErrors from './errors/index.ts'
import { BusyError } from './sqlite-error.ts'
import { errorOf, plainErrorOf } from './sqlite-thread-error.ts'

/** What arrives in the other thread. */
const cross = (error: unknown) => errorOf(structuredClone(plainErrorOf(error)))

describe('an error that crosses between threads', () => {
  it('is of its class again, with its words and where it was thrown', () => {
    for (const error of [
      new storeErrors.DiskFullError('/a/ratchet.db'),
      new storeErrors.UnknownReferenceError(),
      new storeErrors.OutsideTransactionError(),
      new storeErrors.RecordConflictError('version v'),
      new BusyError({ code: 'store/busy', message: 'Locked.', hint: 'Wait.' }),
    ]) {
      const crossed = cross(error)
      expect(crossed).toBeInstanceOf(error.constructor)
      expect(crossed).toBeInstanceOf(storeErrors.StoreError)
      expect(RatchetError.is(crossed)).toBe(true)
      const { name, code, message, hint, stack } = error
      expect(crossed).toMatchObject({ name, code, message, hint, stack })
    }
  })

  it('keeps what its class adds', () => {
    const writer = { pid: 7, host: 'here', since: 1 }
    const crossed = cross(new storeErrors.LockedStoreError('/a', writer))
    expect(crossed).toBeInstanceOf(storeErrors.LockedStoreError)
    expect((crossed as storeErrors.LockedStoreError).writer).toEqual(writer)
  })

  it('keeps its causes, as far down as anyone reads, and ends where they go in a circle', () => {
    const driver = Object.assign(new Error('disk I/O error'), { errcode: 10 })
    const crossed = cross(new storeErrors.DiskFullError('/a', driver))
    expect(crossed.cause).toMatchObject({ name: 'Error', message: 'disk I/O error' })
    const circle: Error & { cause?: unknown } = new Error('circle')
    circle.cause = circle
    expect(cross(circle).message).toBe('circle')
  })

  it('is a RatchetError also when its class is of another room, or of a newer Ratchet', () => {
    class FutureError extends storeErrors.StoreError {}
    for (const error of [
      new InvariantError('x is missing'),
      new FutureError({ code: 'store/future', message: 'm', hint: 'h' }),
    ]) {
      const crossed = cross(error)
      expect(RatchetError.is(crossed)).toBe(true)
      expect(crossed).toMatchObject({ name: error.name, code: error.code, hint: error.hint })
    }
  })

  it('may be anything that can be thrown', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (thrown) => {
        expect(cross(thrown)).toBeInstanceOf(Error)
      }),
    )
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (code, message, hint) => {
        expect(cross(new storeErrors.StoreError({ code, message, hint }))).toMatchObject({ code, message, hint })
        expect(cross(new TypeError(message))).toMatchObject({ name: 'TypeError', message })
      }),
    )
  })
})
