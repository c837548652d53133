import { groupRows, preferenceRows, type Rows, sftRows, toAtif, toVerifiers } from '../../codec/index.ts'
import type { ReviewedTrajectory, SignalRepository, TrajectoryFilter, TrajectoryRepository } from '../../core/index.ts'
import { rewardedBy } from '../rewarded-by.ts'
import type { ExportFormat } from './formats.ts'

/** How trajectories are written. */
export interface ExportOptions {
  readonly format: ExportFormat
  /** Take the mean of the signals of this name as the reward, instead of what was recorded. */
  readonly reward?: string
  readonly least: number
  readonly margin: number
}

/** What is read. */
export interface Exporting {
  readonly trajectories: Pick<TrajectoryRepository, 'list'>
  readonly signals: Pick<SignalRepository, 'of'>
}

/** Trajectories read at once. */
const page = 200

/**
 * Writes the rows of a filter's trajectories, as they are read.
 * @returns how many, and how many trajectories gave none, by reason.
 */
export async function exportRows(
  store: Exporting,
  filter: TrajectoryFilter,
  { format, reward, least, margin }: ExportOptions,
  put: (row: unknown) => Promise<void>,
): Promise<{ readonly written: number; readonly skipped: Readonly<Record<string, number>> }> {
  let written = 0
  const skipped: Record<string, number> = {}
  const write = async (row: unknown) => {
    written++
    await put(row)
  }
  const writeRows = async ({ rows, skipped: some }: Rows<unknown>) => {
    for (const row of rows) await write(row)
    for (const [reason, count] of Object.entries(some)) skipped[reason] = (skipped[reason] ?? 0) + count
  }
  const held: ReviewedTrajectory[] = []
  for await (const one of exported(store, filter, reward)) {
    switch (format) {
      case 'atif':
        for (const document of toAtif(one)) await write(document)
        break
      case 'verifiers':
        await write(toVerifiers(one))
        break
      case 'sft':
        await writeRows(sftRows([one], least))
        break
      case 'grpo':
        await writeRows(groupRows([one]))
        break
      case 'dpo':
        // Attempts at one task compete: none can be judged before all were seen. What is a group by itself has no other.
        if (isAlone(one)) await writeRows(preferenceRows([one], margin))
        else held.push(one)
        break
    }
  }
  if (format === 'dpo') await writeRows(preferenceRows(held, margin))
  return { written, skipped }
}

async function* exported(
  store: Exporting,
  filter: TrajectoryFilter,
  reward: string | undefined,
): AsyncGenerator<ReviewedTrajectory> {
  for (let after: ReviewedTrajectory['trajectory']['id'] | undefined; ; ) {
    const records = await store.trajectories.list({ ...filter, limit: page, ...(after === undefined ? {} : { after }) })
    for (const record of records) {
      const signals = await store.signals.of(record.trajectory.id)
      // A guard's veto stands, whatever anyone says (invariant 5).
      const asked = reward === undefined || record.reward.status === 'vetoed'
      yield { ...record, reward: asked ? record.reward : rewardedBy(record.trajectory, signals, reward), signals }
    }
    // A page is shorter than asked for where some of it was removed meanwhile: only an empty one is the end.
    after = records.at(-1)?.trajectory.id
    if (after === undefined) return
  }
}

const isAlone = ({ trajectory: { id, group } }: ReviewedTrajectory) => (group as string) === id
