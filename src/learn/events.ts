import type { EpisodeBudget } from '../agent/index.ts'
import type { CanaryId, GateDecision, Metrics, ParameterName, ReceiptId, ReleaseId, RunId } from '../core/index.ts'
import type { Brought } from '../gate/index.ts'
import type { Finding } from './preflight/index.ts'
import type { AdapterScore } from './source/rollouts/library.ts'
import type { Schedule } from './source/rollouts/schedule.ts'
import type { EvidenceReport } from './source/traffic/evidence-report.ts'
import type { Diagnosis, PrimingLook } from './steer/index.ts'
import type { Divergence, LearnSummary, SuccessRate } from './summary.ts'

/**
 * Which agent is measured: the base model, what served when the run began, after priming, after learning, or after the
 * same time of supervised learning alone.
 */
export type Arm = 'base' | 'serving' | 'primed' | 'learned' | 'control'

/** How often a scripted policy succeeds on the held-out tasks of a tier: what a learned one is read beside. */
export interface Baseline {
  readonly name: string
  readonly tier: string
  readonly rate: SuccessRate
}

/** Whose weights it is told of, where the weights of several Parameters learn in the run. */
export interface OfWeights {
  readonly parameter?: ParameterName
}

/** The setting of the schedule by which updating ended. */
export type EndReason = keyof Pick<Schedule, 'updates' | 'target' | 'seconds' | 'goodEnough' | 'patience'>

/** What a run tells while it goes, whatever it learns from. Everything but `progress` is kept in the store. */
export type LearnEvent =
  | {
      readonly type: 'started'
      readonly runId: RunId
      readonly agent: string
      readonly seed: number
      /** The update or the phase that it goes on from; `null` for a new run. */
      readonly resumedAt: number | string | null
      /** What a run over rollouts chose or was given: of one episode, and how many families its tasks fall into. */
      readonly chosen?: {
        readonly budget: EpisodeBudget
        readonly families: number
        readonly demonstrations: number
        /** Names that demonstrations can be told of. */
        readonly names: number
        /** At which attempts are sampled. */
        readonly temperature: number
      }
    }
  | ({ readonly type: 'found' } & Finding)
  | (OfWeights & {
      /** What serves weights computes what trains them does, on so many fresh tokens of this adapter. */
      readonly type: 'agreed'
      readonly adapter: string
      readonly tokens: number
      /** The greatest difference of a log-probability. */
      readonly furthest: number
    })
  | (OfWeights & {
      /** The adapter of a library that weights begin from; `null`: as they serve. Of so many demonstrations the likelihoods. */
      readonly type: 'began-from'
      readonly adapter: string | null
      readonly scores: readonly AdapterScore[]
      readonly demonstrations: number
    })
  | { readonly type: 'progress'; readonly phase: string; readonly done: number; readonly total: number }
  | (OfWeights & {
      readonly type: 'primed'
      readonly pass: number
      readonly passes: number
      readonly metrics: Metrics
      readonly seconds: number
    })
  | ({ readonly type: 'looked'; readonly diagnosis: Diagnosis } & PrimingLook)
  | (OfWeights & {
      /** So many steps of policy gradient were not taken: all advantages were 0, so nothing had a gradient. */
      readonly type: 'silent'
      readonly steps: number
    })
  | {
      /** A batch showed a collapse: the run went back, and takes smaller steps. */
      readonly type: 'recovered'
      readonly update: number
      readonly rollouts: SuccessRate
      /** The update that it went back to. */
      readonly to: number
      /** Factor on the learning rate from here on, of several weights the largest; 0 where none learn. */
      readonly scale: number
      /** Returns so far. */
      readonly recoveries: number
    }
  | {
      readonly type: 'families'
      readonly update: number
      readonly families: readonly {
        readonly family: string
        /** Of recent attempts; `null` before there are any. */
        readonly rate: number | null
        /** Training tasks of it. */
        readonly tasks: number
        /** Whether nothing succeeds on it. */
        readonly dead: boolean
      }[]
    }
  | {
      /** Updating ended before the schedule's last update. */
      readonly type: 'stopped'
      readonly update: number
      readonly reason: 'silent' | 'still' | 'collapsed'
      readonly message: string
      readonly diagnosis: Diagnosis
    }
  | {
      /** Updating ended as the schedule says. */
      readonly type: 'enough'
      readonly update: number
      readonly reason: EndReason
      readonly message: string
    }
  | {
      readonly type: 'updated'
      readonly update: number
      readonly updates: number
      readonly rollouts: SuccessRate
      readonly reward: number | null
      /** Of several weights, each named by its Parameter, as are those of everything else that learns. */
      readonly metrics: Metrics
      readonly tokensSampled: number
      readonly tokensPerSecond: number
      /** Seconds of priming and updates so far; and left at most, if each update takes as long as this one. */
      readonly seconds: number
      readonly etaSeconds: number
    }
  | {
      readonly type: 'evaluated'
      readonly arm: Arm
      readonly split: 'validation' | 'holdout'
      readonly tier: string
      readonly update: number
      readonly rate: SuccessRate
    }
  | ({ readonly type: 'baseline' } & Baseline)
  | ({ readonly type: 'gathered' } & EvidenceReport)
  | (OfWeights & { readonly type: 'anchored'; readonly sequences: number; readonly strength: number })
  | (OfWeights & {
      readonly type: 'imitated' | 'preferred'
      readonly pass: number
      readonly passes: number
      readonly metrics: Metrics
      readonly seconds: number
    })
  | {
      /** What learns beside the weights took its step on a batch of traffic. Metrics are named by the Parameter. */
      readonly type: 'stepped'
      readonly metrics: Metrics
      readonly seconds: number
    }
  | (OfWeights & {
      readonly type: 'practised'
      readonly epoch: number
      readonly epochs: number
      readonly metrics: Metrics
      readonly divergence: Divergence
      readonly seconds: number
    })
  | (OfWeights & {
      /** The weights are too far from those that sampled. */
      readonly type: 'out-of-bounds'
      /** The epoch that went there; 0 where they are before the first. */
      readonly epoch: number
      readonly divergence: Divergence
      /** Whether practice goes on, from before the epoch and with half the step; else it ends there. */
      readonly goesOn: boolean
    })
  | {
      readonly type: 'measured'
      readonly suite: string
      readonly arm: 'serving' | 'learned'
      readonly meanReward: number | null
      readonly n: number
    }
  | {
      readonly type: 'gated'
      readonly receipt: ReceiptId
      readonly decision: GateDecision
      readonly reasons: readonly string[]
    }
  | ({ readonly type: 'brought' } & Brought)
  | { readonly type: 'tried'; readonly canary: CanaryId; readonly share: number }
  | {
      readonly type: 'released'
      readonly release: ReleaseId
      /** The Parameter that serves again as it is declared. */
      readonly retired?: ParameterName
    }
  | { readonly type: 'finished'; readonly summary: LearnSummary }
