import type { CanaryId, CanaryStatus, ReleaseId, RunId } from '../../core/index.ts'
import type { CanaryVerdict } from '../../gate/index.ts'
import type { TrafficSummary } from '../summary.ts'

/** What a learner tells between its runs; what runs tell is theirs. */
export type LearnerEvent =
  /** This process learns: nobody else does, until it loses the lease. */
  | { readonly type: 'leading'; readonly agent: string; readonly holder: string; readonly token: number }
  /** Another process learns. */
  | { readonly type: 'standby'; readonly agent: string; readonly holder: string }
  | { readonly type: 'lost'; readonly agent: string }
  | { readonly type: 'resuming'; readonly agent: string; readonly run: RunId }
  /** Why there is no run now. Told when the reason changes. */
  | { readonly type: 'waiting'; readonly agent: string; readonly reason: string }
  | { readonly type: 'learning'; readonly agent: string; readonly reason: string }
  /** A look at the canary that changed something. */
  | {
      readonly type: 'watched'
      readonly agent: string
      readonly canary: CanaryId
      /** What its gate said; `null` when it was not asked: what it was compared with serves no more, or nobody is to get it. */
      readonly action: CanaryVerdict['action'] | null
      readonly status: CanaryStatus
      readonly reason: string
      readonly release: ReleaseId | null
    }
  /** A release went back, as labels that came after its promotion say otherwise. */
  | {
      readonly type: 'reopened'
      readonly agent: string
      readonly canary: CanaryId
      readonly release: ReleaseId
      readonly reason: string
    }
  | { readonly type: 'learned'; readonly agent: string; readonly summary: TrafficSummary }
  | {
      readonly type: 'problem'
      readonly agent: string
      /** `listen`: whoever is told threw. Of its errors the first is told. */
      readonly during: 'watch' | 'observe' | 'learn' | 'lease' | 'listen'
      readonly code: string
      readonly message: string
    }
  | { readonly type: 'ended'; readonly agent: string }
