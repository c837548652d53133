import { type Kysely, sql } from 'kysely'
import { type KnownTurn, NodeId, type Tenant, TrajectoryId } from '../core/index.ts'
import { compiledStatement } from './compiled-statement.ts'
import { parseRecord } from './record.ts'
import type { Tables } from './tables.ts'

/**
 * Turns that are told of one digest. A greeting and its answer come again and again: the latest count, and they must not
 * crowd out a longer conversation, whose digest is its own.
 */
const turnsOfDigest = 8
/** Digests that one query asks for, at most; a query asks for a power of two, so that few are ever compiled. */
const digestsAtOnce = 256
/** No turn's digest: fills a query up. */
const none = ''

/** Turns of one API key with these digests, the latest first. */
export async function turnsOf(
  db: Kysely<Tables>,
  key: string,
  tenant: Tenant,
  digests: readonly string[],
): Promise<readonly KnownTurn[]> {
  const wanted = [...new Set(digests)].filter((digest) => digest !== none)
  const found: FoundTurn[] = []
  for (let start = 0; start < wanted.length; start += digestsAtOnce) {
    const some = wanted.slice(start, start + digestsAtOnce)
    const size = 2 ** Math.ceil(Math.log2(some.length))
    const parameters = [...some, ...Array<string>(size - some.length).fill(none)].map((digest, i) => [`d${i}`, digest])
    const { rows } = await turnsWith(size)(db, { key, tenant, ...Object.fromEntries(parameters) })
    found.push(...rows)
  }
  return found
    .toSorted((a, b) => b.sequence - a.sequence)
    .map(({ digest, node, trajectory }) => {
      const what = `turn ${node} of trajectory ${trajectory}`
      return { digest, node: parseRecord(NodeId, node, what), trajectory: parseRecord(TrajectoryId, trajectory, what) }
    })
}

type FoundTurn = Pick<Tables['produced_turns'], 'digest' | 'node' | 'trajectory'> & { readonly sequence: number }

interface Wanted extends Readonly<Record<string, unknown>> {
  readonly key: string
  readonly tenant: string
}

const queries = new Map<number, ReturnType<typeof compileFor>>()

/** The query for so many digests, `d0`, `d1` … */
function turnsWith(size: number): ReturnType<typeof compileFor> {
  const query = queries.get(size) ?? compileFor(size)
  queries.set(size, query)
  return query
}

/** Each digest's latest turns: found in the index, however many it has. */
function compileFor(size: number) {
  return compiledStatement<Wanted, FoundTurn>((db, { key, tenant, ...digests }) => {
    const values = sql.join(Array.from({ length: size }, (_, i) => sql`(${digests[`d${i}`]})`))
    return db
      .with('wanted(digest)', () => sql<{ digest: string }>`(values ${values})`)
      .selectFrom('wanted')
      .innerJoin('produced_turns as turn', (join) =>
        join
          .onRef('turn.digest', '=', 'wanted.digest')
          .on('turn.api_key', '=', key)
          .on('turn.tenant', '=', tenant)
          .on('turn.sequence', '>=', (eb) =>
            eb.fn.coalesce(
              eb
                .selectFrom('produced_turns as known')
                .select('known.sequence')
                .whereRef('known.digest', '=', 'wanted.digest')
                .where('known.api_key', '=', key)
                .where('known.tenant', '=', tenant)
                .orderBy('known.sequence', 'desc')
                .limit(1)
                .offset(turnsOfDigest - 1),
              eb.lit(0),
            ),
          ),
      )
      .select(['turn.sequence', 'turn.digest', 'turn.node', 'turn.trajectory'])
  })
}
