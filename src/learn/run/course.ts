import type { HoldoutUse, PairedOutcome, Repositories, Rubric } from '../../core/index.ts'
import type { Brought, Gate } from '../../gate/index.ts'
import type { MeasuredRates } from '../summary.ts'
import type { LearnRun } from './learn-run.ts'
import type { RunState } from './state.ts'

/**
 * Goes on to what comes next, durably; a stage may ask for it, so that something commits together with it.
 * @param work commits in the same transaction.
 */
export type GoOn = (change?: Partial<RunState>, work?: (tx: Repositories) => Promise<void>) => Promise<void>

/** One part of how a run learns from its source, from its beginning to its end. It goes on from the run's checkpoints. */
export interface Stage<R extends LearnRun> {
  readonly name: string
  learn(run: R, goOn: GoOn): Promise<void>
}

/** What held-out tasks showed of a candidate and of what serves. */
export interface Measured {
  readonly gate: Gate
  /** This use of the holdout, as its ledger has it. */
  readonly use: HoldoutUse
  readonly outcomes: readonly PairedOutcome[]
  /** On what was learned before, by the suite. */
  readonly suites?: Readonly<Record<string, readonly PairedOutcome[]>>
  /** Against whatever else the candidate must beat, by the rival. */
  readonly rivals?: Readonly<Record<string, readonly PairedOutcome[]>>
  /** What each Parameter brought, where several have changed. */
  readonly brought: readonly Brought[]
  readonly reward: Pick<Rubric, 'floor' | 'ceiling'>
  readonly rates: MeasuredRates | null
  readonly remarks: readonly string[]
}

/** What a source makes of a run: how it learns, one stage after the other, and what speaks for the candidate. */
export interface Course<R extends LearnRun> {
  readonly run: R
  readonly stages: readonly Stage<R>[]
  /** Measures the candidate on held-out tasks; `null` where there are none. */
  measure(run: R): Promise<Measured | null>
}
