import { type ExpressionBuilder, type Kysely, type Selectable, sql } from 'kysely'
import {
  AuditLabel,
  type AuditDraw,
  type AuditRepository,
  type BlockMark,
  CanaryId,
  contentHash,
  DRAWS_IN_BLOCK,
  JUDGE_ALONE,
  TrajectoryId,
} from '../core/index.ts'
import type { Access } from './access.ts'
import { UnknownRecordError } from './errors/index.ts'
import { parseRecord } from './record.ts'
import type { Tables } from './tables.ts'

/** What was drawn for the audit; a draw is inserted with its judged session. */
export function auditRepository({ read, write }: Access): AuditRepository {
  return {
    drawn: (canary) => read((db) => drawsOf(db, canary, { judgeAlone: false })),

    forJudge: (canary, block) => read((db) => drawsOf(db, canary, { judgeAlone: true, block })),

    get: (id) =>
      read(async (db) => {
        const draws = await db.selectFrom('audit_draws').selectAll().where('id', '=', id).execute()
        const labels = await db
          .selectFrom('audit_labels')
          .selectAll()
          .where('draw', '=', id)
          .orderBy('reviewer')
          .execute()
        return withLabels(draws, labels)[0] ?? null
      }),

    marks: (canary) => read((db) => marksOf(db, canary)),

    label: (label) =>
      write(async (db) => {
        // Held from here on: an erasure of its session waits, and the label comes before or after it.
        const held = await db
          .updateTable('audit_draws')
          .set((eb) => ({ at: eb.ref('at') }))
          .where('id', '=', label.draw)
          .returning(['trajectory', 'sequence'])
          .executeTakeFirst()
        if (!held) throw new UnknownRecordError(`draw ${label.draw}`)
        const known = await ofReviewer(db, label).executeTakeFirst()
        if (known?.truth === label.truth && known.withdrawn_at === null) return 'repeated'
        // Who was erased is written of no more.
        const note = held.trajectory === `erased-${held.sequence}` ? '' : label.note
        const row = { ...label, note, withdrawn_at: null }
        await db
          .insertInto('audit_labels')
          .values(row)
          .onConflict((c) => c.columns(['draw', 'reviewer']).doUpdateSet(row))
          .execute()
        return known ? 'changed' : 'recorded'
      }, `audit ${label.draw}`),

    withdraw: ({ tenant, key, at }) =>
      write(async (db) => {
        const { numUpdatedRows: withdrawn } = await db
          .updateTable('audit_labels')
          .set({ withdrawn_at: at })
          .where('tenant', '=', tenant)
          .where('withdrawn_at', 'is', null)
          .where((eb) =>
            eb.or([
              eb('reviewer', '=', key),
              sql<boolean>`substr(${eb.ref('reviewer')}, 1, ${sql.lit(key.length + 1)}) = ${`${key}:`}`,
            ]),
          )
          .executeTakeFirstOrThrow()
        return Number(withdrawn)
      }),
  }
}

/** Counts and sums that differ where something was drawn, said, changed, taken back or erased. */
async function marksOf(db: Kysely<Tables>, canary: string): Promise<BlockMark[]> {
  // PostgreSQL's driver gives an integer of 64 bits as text.
  const block = sql<number | string>`sequence / ${sql.lit(DRAWS_IN_BLOCK)}`
  const draws = await db
    .selectFrom('audit_draws')
    .where('canary', '=', canary)
    .select(({ fn }) => [
      block.as('block'),
      fn.countAll().as('draws'),
      sql`sum(case when trajectory = 'erased-' || sequence then 1 else 0 end)`.as('erased'),
    ])
    .groupBy(block)
    .orderBy(block)
    .execute()
  // Sums, too: two labels may come within one millisecond, and clocks of several gateways differ.
  const labels = await db
    .selectFrom('audit_labels')
    .innerJoin('audit_draws', 'audit_draws.id', 'audit_labels.draw')
    .where('audit_draws.canary', '=', canary)
    .select(({ fn }) => [
      block.as('block'),
      fn.countAll().as('labels'),
      fn.count('audit_labels.truth').as('told'),
      fn.count('audit_labels.withdrawn_at').as('withdrawn'),
      fn.max('audit_labels.at').as('latest'),
      fn.sum('audit_labels.at').as('times'),
      fn.sum('audit_labels.truth').as('truths'),
      fn.max('audit_labels.withdrawn_at').as('latestWithdrawn'),
    ])
    .groupBy(block)
    .execute()
  const said = new Map(labels.map((one) => [Number(one.block), Object.values(one).map(String)]))
  return draws.map(({ block: at, draws: drawn, erased }) => ({
    block: Number(at),
    mark: contentHash({ drawn: String(drawn), erased: String(erased), said: said.get(Number(at)) ?? [] }),
  }))
}

async function drawsOf(
  db: Kysely<Tables>,
  canary: string,
  { judgeAlone, block }: { readonly judgeAlone: boolean; readonly block?: number | undefined },
): Promise<AuditDraw[]> {
  const inBlock = (eb: ExpressionBuilder<Tables, 'audit_draws'>) => {
    const own = eb('canary', '=', canary)
    if (block === undefined) return own
    const from = block * DRAWS_IN_BLOCK
    return eb.and([own, eb('sequence', '>=', from), eb('sequence', '<', from + DRAWS_IN_BLOCK)])
  }
  const draws = await db
    .selectFrom('audit_draws')
    .selectAll()
    .where(inBlock)
    .$if(!judgeAlone, (query) => query.where('id', 'not like', `${JUDGE_ALONE}%`))
    .orderBy('sequence')
    .execute()
  const labels = await db
    .selectFrom('audit_labels')
    .innerJoin('audit_draws', 'audit_draws.id', 'audit_labels.draw')
    .selectAll('audit_labels')
    .where(inBlock)
    .orderBy('reviewer')
    .execute()
  return withLabels(draws, labels)
}

function ofReviewer(db: Kysely<Tables>, { draw, reviewer }: Pick<AuditLabel, 'draw' | 'reviewer'>) {
  return db
    .selectFrom('audit_labels')
    .select(['truth', 'withdrawn_at'])
    .where('draw', '=', draw)
    .where('reviewer', '=', reviewer)
}

/** Takes the names of trajectories that are removed, and all words about them, out of the audit. Numbers stay. */
export async function auditNobody(db: Kysely<Tables>, trajectories: readonly string[]): Promise<void> {
  // Draws before their labels, as whoever labels does: so neither waits for the other.
  const drawn = await db
    .updateTable('audit_draws')
    .set({ trajectory: sql<string>`'erased-' || sequence` })
    .where('trajectory', 'in', trajectories)
    .returning('id')
    .execute()
  if (drawn.length === 0) return
  const ids = drawn.map(({ id }) => id)
  await db.updateTable('audit_labels').set({ note: '' }).where('draw', 'in', ids).execute()
}

function withLabels(
  draws: readonly Selectable<Tables['audit_draws']>[],
  labels: readonly Selectable<Tables['audit_labels']>[],
): AuditDraw[] {
  const said = new Map<string, AuditLabel[]>()
  for (const row of labels) {
    const label = toLabel(row)
    const known = said.get(row.draw)
    if (known) known.push(label)
    else said.set(row.draw, [label])
  }
  return draws.map(({ id, canary, sequence, trajectory, at }) => ({
    id,
    canary: parseRecord(CanaryId, canary, `draw ${id}`),
    sequence,
    trajectory: parseRecord(TrajectoryId, trajectory, `draw ${id}`),
    at,
    labels: said.get(id) ?? [],
  }))
}

function toLabel({ withdrawn_at: withdrawnAt, ...row }: Selectable<Tables['audit_labels']>): AuditLabel {
  return parseRecord(AuditLabel, { ...row, withdrawnAt }, `label of draw ${row.draw}`)
}
