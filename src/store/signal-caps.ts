import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { SignalCaps } from '../core/index.ts'
import type { Tables } from './tables.ts'

const day = 24 * 60 * 60 * 1000
/** Rows that stand for all reporters: a row for each would be one more place that names people. */
const lockCount = 256

/** Whose evidence about what. */
interface Evidence {
  readonly tenant: string
  readonly reporter: string
  readonly trajectory: string
}

/** What was said through a key of one trajectory. */
interface Said {
  readonly count: number
  /** Of the values, as JSON. */
  readonly bytes: number
}

/**
 * How much each reporter, and all who report through one key together, may still say: counted once for each in the transaction that is open, and from there on as it is
 * used up. Only evidence of the reporter's own tenant counts.
 */
export class SignalRoom {
  readonly #db: Kysely<Tables>
  readonly #caps: SignalCaps
  readonly #now: number
  readonly #said = new Map<string, number>()
  readonly #through = new Map<string, Said>()

  private constructor(db: Kysely<Tables>, caps: SignalCaps, now: number) {
    this.#db = db
    this.#caps = caps
    this.#now = now
  }

  /**
   * Other transactions that count for one of these locks wait until this one has ended.
   * @param locks {@link locksOf} the evidence.
   */
  static async behind(
    locks: readonly number[],
    db: Kysely<Tables>,
    { caps, now }: { readonly caps: SignalCaps; readonly now: number },
  ): Promise<SignalRoom> {
    for (const slot of locks) {
      await db
        .insertInto('signal_locks')
        .values({ slot })
        .onConflict((c) => c.column('slot').doUpdateSet({ slot }))
        .execute()
    }
    return new SignalRoom(db, caps, now)
  }

  /** Uses up room for one signal. @returns false when there is none. */
  async take({ tenant, reporter, trajectory, value }: Evidence & { readonly value: string }): Promise<boolean> {
    const about = JSON.stringify([tenant, reporter, trajectory])
    const today = JSON.stringify([tenant, reporter])
    const key = keyOf(reporter)
    const throughKey = JSON.stringify([tenant, { key }, trajectory])
    const saidAbout = this.#said.get(about) ?? (await this.#saidAbout(tenant, reporter, trajectory))
    const saidToday = this.#said.get(today) ?? (await this.#saidToday(tenant, reporter))
    const through = this.#through.get(throughKey) ?? (await this.#saidThrough(tenant, key, trajectory))
    const bytes = Buffer.byteLength(value)
    const { perTrajectory, perTrajectoryOfKey, bytesPerTrajectoryOfKey = Number.POSITIVE_INFINITY, perDay } = this.#caps
    const free =
      saidAbout < perTrajectory &&
      through.count < perTrajectoryOfKey &&
      through.bytes + bytes <= bytesPerTrajectoryOfKey &&
      saidToday < perDay
    this.#said.set(about, saidAbout + (free ? 1 : 0))
    this.#said.set(today, saidToday + (free ? 1 : 0))
    this.#through.set(throughKey, free ? { count: through.count + 1, bytes: through.bytes + bytes } : through)
    return free
  }

  async #saidAbout(tenant: string, reporter: string, trajectory: string): Promise<number> {
    const { count } = await this.#db
      .selectFrom('signals')
      .where('trajectory', '=', trajectory)
      .where('tenant', '=', tenant)
      .where('reporter', '=', reporter)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return count
  }

  async #saidThrough(tenant: string, key: string, trajectory: string): Promise<Said> {
    const names = `${key}:`
    const { count, bytes } = await this.#db
      .selectFrom('signals')
      .where('trajectory', '=', trajectory)
      .where('tenant', '=', tenant)
      .where((eb) => eb.or([eb('reporter', '=', key), eb(sql`substr(reporter, 1, ${names.length})`, '=', names)]))
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .select(sql<number | null>`sum(octet_length(value))`.as('bytes'))
      .executeTakeFirstOrThrow()
    return { count, bytes: bytes ?? 0 }
  }

  async #saidToday(tenant: string, reporter: string): Promise<number> {
    const { count } = await this.#db
      .selectFrom('signals')
      .where('reporter', '=', reporter)
      .where('tenant', '=', tenant)
      .where('received_at', '>', this.#now - day)
      .where('received_at', '<=', this.#now)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return count
  }
}

/** The locks of whoever reports, in the order in which they are taken. */
export function locksOf(evidence: readonly Omit<Evidence, 'trajectory'>[]): readonly number[] {
  return [...new Set(evidence.map(lockOf))].toSorted((a, b) => a - b)
}

/** The key that a reporter reports through. */
const keyOf = (reporter: string) => reporter.split(':', 1)[0] ?? ''

function lockOf({ tenant, reporter }: Omit<Evidence, 'trajectory'>): number {
  return (
    createHash('sha256')
      .update(JSON.stringify([tenant, keyOf(reporter)]))
      .digest()
      .readUInt32LE() % lockCount
  )
}
