import { RunId } from '../../core/index.ts'

/** A new run's id: sortable by time, unique enough for one store. */
export function newRunId(now: number, random: () => number = Math.random): RunId {
  const stamp = new Date(now).toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)
  return RunId.parse(
    `run-${stamp}-${Math.floor(random() * 36 ** 4)
      .toString(36)
      .padStart(4, '0')}`,
  )
}
