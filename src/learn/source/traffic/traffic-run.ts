import type { Demonstration } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { TrafficOptions } from '../../options.ts'
import { LearnRun, type RunParts } from '../../run/learn-run.ts'
import type { TrafficSummary } from '../../summary.ts'
import type { Material } from './learned-from.ts'
import type { TrafficSchedule } from './schedule.ts'

/** A run over traffic: it gathers what people did and said, and learns from that. */
export class TrafficRun extends LearnRun<TrafficOptions, 'batch' | 'candidate'> {
  readonly schedule: TrafficSchedule
  /** What is learned from, once it was read. */
  material: Material | null = null
  /** What may be learned again, once it was read. */
  rehearsal: readonly Demonstration[] | null = null
  protected override readonly candidateName = 'candidate'

  constructor(parts: RunParts<TrafficOptions>, schedule: TrafficSchedule) {
    super(parts)
    this.schedule = schedule
  }

  override summary(): TrafficSummary {
    const { state } = this
    return {
      runId: this.run.id,
      agent: this.key,
      outcome: present(state.outcome, 'what became of the run'),
      reason: state.reason,
      evidence: this.options.source.evaluation === null ? 'canary-only' : 'held-out',
      learned: present(state.report, 'what was gathered'),
      replayed: state.replayed,
      passes: { demonstrations: state.passes, preferences: state.preferences, epochs: state.epochs },
      divergence: state.divergence,
      candidate: this.candidates[0]?.id ?? null,
      decision: state.decision,
      ...(state.brought.length > 0 && { brought: state.brought }),
      receipt: state.receipt,
      canary: state.canary,
      seconds: this.seconds,
      tokensTrained: state.tokensTrained,
    }
  }
}
