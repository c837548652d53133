import type { EpisodeBudget } from '../../../agent/index.ts'
import type { ScoredTrajectory } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { RolloutOptions } from '../../options.ts'
import { LearnRun, type RunParts } from '../../run/learn-run.ts'
import type { Stopped } from '../../run/state.ts'
import { diagnose, familiesOf, type FamilyOf } from '../../steer/index.ts'
import type { RolloutSummary } from '../../summary.ts'
import type { Demonstrations } from './demonstrations.ts'
import { RehearsalPool } from './rehearsal-pool.ts'
import type { Schedule } from './schedule.ts'

/** What a run over rollouts is opened with, beside what every run is. */
export interface Practice {
  readonly schedule: Schedule
  readonly budget: EpisodeBudget
  readonly demonstrations: Demonstrations
}

/** Adapters that it keeps: where priming ended, the moving average, the best validation, and the control's best. */
type KeptAdapter = 'primed' | 'average' | 'best' | 'control'

/** A run over rollouts: it imitates demonstrations, practises, and is judged on held-out tasks. */
export class RolloutRun extends LearnRun<RolloutOptions, KeptAdapter> {
  readonly schedule: Schedule
  readonly budget: EpisodeBudget
  readonly demonstrations: Demonstrations
  /** The families of the tasks, and how many training tasks each has. */
  readonly familyOf: FamilyOf
  readonly familySizes: ReadonlyMap<string, number>
  /** What an update can rehearse. */
  readonly rehearsal: RehearsalPool
  protected override readonly candidateName = 'best'

  constructor(parts: RunParts<RolloutOptions>, { schedule, budget, demonstrations }: Practice) {
    super(parts)
    this.schedule = schedule
    this.budget = budget
    this.demonstrations = demonstrations
    const { train } = parts.options.source
    this.familyOf = familiesOf(train)
    const sizes = new Map<string, number>()
    for (const task of train) sizes.set(this.familyOf(task), (sizes.get(this.familyOf(task)) ?? 0) + 1)
    this.familySizes = sizes
    this.rehearsal = new RehearsalPool(parts.options, demonstrations, this.familyOf)
  }

  override summary(): RolloutSummary {
    const { rates, decision, brought, release, canary, outcome, reason, tokensSampled, tokensTrained } = this.state
    const elsewhere = decision === 'promote' && outcome !== null && outcome !== 'released'
    return {
      runId: this.run.id,
      ...present(rates, 'what the arms earned'),
      decision: present(decision, "the gate's decision"),
      ...(brought.length > 0 && { brought }),
      releaseId: release,
      ...(canary === null ? {} : { canary }),
      ...(elsewhere ? { outcome, reason } : {}),
      seconds: this.seconds,
      tokensSampled,
      tokensTrained,
    }
  }

  /** Remembers the trainer as the next checkpoint has it: what a collapse goes back to. */
  keepSteady(): void {
    this.state = { ...this.state, steady: { update: this.state.update, standing: this.state.standing } }
    this.mark('steady')
  }

  /** Remembers the trainer as the last checkpoint has it: the weights that the batch at hand was sampled with. */
  keepSampled(): void {
    this.state = { ...this.state, steady: { update: this.state.update, standing: this.state.standing } }
    this.name('steady', present(this.blobs['trainer'], "the last checkpoint's trainer state"))
  }

  /** Ends updating before the schedule does, and says why. @param scored what was seen last. */
  stop(reason: Stopped['reason'], message: string, scored: readonly ScoredTrajectory[]): void {
    const diagnosis = diagnose(scored, this.options.reward.ceiling)
    this.state = {
      ...this.state,
      stopped: { reason, message: `${message} ${diagnosis.message}`, hint: diagnosis.hint },
    }
    this.emit({ type: 'stopped', update: this.state.update, reason, message, diagnosis })
  }
}
