import { z } from 'zod'
import {
  CanaryId,
  GateDecision,
  HoldoutUse,
  Json,
  ParameterName,
  ParameterValue,
  ReceiptId,
  ReleaseId,
  TrajectoryId,
} from '../../core/index.ts'
import { Brought } from '../../gate/index.ts'
import { EvidenceReport } from '../source/traffic/evidence-report.ts'
import { Divergence, MeasuredRates, RunOutcome } from '../summary.ts'
import { Diagnosis, PrimingLook, Standing, Tally, UpdateSign } from '../steer/index.ts'

/** Why updating ended before the schedule's last update, in words for whoever runs it. */
export const Stopped = z.strictObject({
  reason: z.enum(['silent', 'still', 'collapsed']),
  message: z.string(),
  hint: z.string(),
})
export type Stopped = Readonly<z.infer<typeof Stopped>>

/** An episode of the policy's own that may be imitated. */
export const Success = z.object({
  family: z.string(),
  /** The tools that it used. */
  tools: z.array(z.string()).readonly().default([]),
  trajectory: TrajectoryId,
  /** Whether an act was forced in it. */
  forced: z.boolean().default(false),
})
export type Success = Readonly<z.infer<typeof Success>>

const count = z.int().nonnegative()

/** How far the weights of one Parameter have come. */
export const WeightsState = z.strictObject({
  /** Passes of imitation; epochs over one batch; passes over preferences. */
  passes: count,
  epochs: count,
  preferences: count,
  /** Sequences of earlier runs that were imitated again, over all passes. */
  replayed: count,
  /** How far the weights are from those that sampled, as the last epoch left it. */
  divergence: Divergence.nullable(),
  /** Times that an epoch over one batch went too far, and was gone back from. */
  returns: count.default(0),
  /** What scales the learning rate now, and at most. */
  stride: z.strictObject({ scale: z.number().positive(), most: z.number().positive() }),
})
export type WeightsState = Readonly<z.infer<typeof WeightsState>>

/** Where all weights begin. */
export const initialWeights: WeightsState = {
  passes: 0,
  epochs: 0,
  preferences: 0,
  replayed: 0,
  divergence: null,
  returns: 0,
  stride: { scale: 0.5, most: 1 },
}

/** Where a run stands: with the checkpoint's blobs, everything that resuming needs. */
export const RunState = z.strictObject({
  /** What comes next. */
  phase: z.enum(['learn', 'judge', 'release', 'done']),
  /** While it learns: the name of the stage that is next, or under way. */
  stage: z.string().nullable(),

  /** Updates on fresh batches. */
  update: count,
  /** The weights that the run trains, by Parameter. */
  weights: z.record(ParameterName, WeightsState),
  /** What was gathered from traffic. */
  report: EvidenceReport.nullable(),

  /** Demonstrations that are not imitated, by the hash of their messages: the reward does not pay for them. */
  leftOut: z.array(z.string()).readonly().default([]),
  /** The most calls of one replayed demonstration that tools refused. */
  refused: count.default(0),
  /** The reward of a success, where demonstrations earn less than the rubric's ceiling. */
  successThreshold: z.number().nullable().default(null),
  /** What was seen while imitating. */
  looks: z.array(PrimingLook.extend({ diagnosis: Diagnosis })),
  /** What attempts came to, by family; and as it was at the steady checkpoint. */
  standing: Standing,
  steady: z.strictObject({ update: count, standing: Standing }).nullable(),
  /** Updates since the last recovery. */
  signs: z.array(UpdateSign),
  /** How often a collapse was gone back from. */
  recoveries: count,
  /** What each session of another kind's optimizer saved, by Parameter; and what the best validation had of each to serve. */
  learners: z.record(ParameterName, Json),
  proposed: z.record(ParameterName, ParameterValue),
  /** What attempts came to in which one act was forced: all of them, older ones counting less; and by what was changed. */
  forced: z
    .strictObject({ all: Tally, changes: Standing })
    .default({ all: { attempts: 0, successes: 0 }, changes: {} }),
  /** Own successes to rehearse, the newest last. */
  successes: z.array(Success),
  /** Episodes sampled to learn from; measurements are not among them. */
  episodes: count,
  /** Why updating ended before the schedule's last update; `null` while it has not. */
  stopped: Stopped.nullable(),
  /** The best validation so far, and whether it is better than the first was. */
  best: z.strictObject({ update: count, success: z.number(), rose: z.boolean() }).nullable(),
  /** The update that was validated last. */
  validated: count.nullable(),
  /** The last validation that rose over the one that rose before it by more than chance. */
  risen: z.strictObject({ update: count, success: z.number() }).nullable(),

  /** The use of the holdout that this run has claimed, what the arms earned, and what the gate said. */
  use: HoldoutUse.nullable(),
  rates: MeasuredRates.nullable(),
  /** What each Parameter of the candidate brought, where several changed. */
  brought: z.array(Brought).readonly(),
  receipt: ReceiptId.nullable(),
  decision: GateDecision.nullable(),
  /** What became of the candidate, and why. */
  outcome: RunOutcome.nullable(),
  reason: z.string(),
  canary: CanaryId.nullable(),
  release: ReleaseId.nullable(),

  /** Events written. */
  events: count,
  checkpoints: count,
  tokensSampled: count,
  tokensTrained: count,
  /** Seconds of learning; and of everything. */
  learningSeconds: z.number().nonnegative(),
  seconds: z.number().nonnegative(),
})
export type RunState = z.infer<typeof RunState>

/** Where every run begins that trains no weights. */
export const initialState: RunState = {
  phase: 'learn',
  stage: null,
  update: 0,
  weights: {},
  report: null,
  leftOut: [],
  refused: 0,
  successThreshold: null,
  looks: [],
  standing: {},
  steady: null,
  signs: [],
  recoveries: 0,
  learners: {},
  proposed: {},
  forced: { all: { attempts: 0, successes: 0 }, changes: {} },
  successes: [],
  episodes: 0,
  stopped: null,
  best: null,
  validated: null,
  risen: null,
  use: null,
  rates: null,
  brought: [],
  receipt: null,
  decision: null,
  outcome: null,
  reason: '',
  canary: null,
  release: null,
  events: 0,
  checkpoints: 0,
  tokensSampled: 0,
  tokensTrained: 0,
  learningSeconds: 0,
  seconds: 0,
}

/** Where a run begins that trains these weights. */
export const newState = (trained: readonly ParameterName[]): RunState => ({
  ...initialState,
  weights: Object.fromEntries(trained.map((parameter) => [parameter, initialWeights])),
})
