import { z } from 'zod'
import { VersionSet } from './gate.ts'
import { ReceiptId, ReleaseId, RunId } from './id.ts'
import { Json } from './json.ts'
import { BlobRef } from './blob-ref.ts'

/** `interrupted`: the process went away; `ratchet learn --resume` goes on from the last checkpoint. */
export const RunStatus = z.enum(['running', 'completed', 'failed', 'interrupted'])
export type RunStatus = z.infer<typeof RunStatus>

/** One learning run. */
export const Run = z.strictObject({
  id: RunId,
  agent: z.string().min(1),
  /** The whole configuration, as parsed: a run repeats from it. */
  config: Json,
  seed: z.int(),
  status: RunStatus,
  versionsIn: VersionSet,
  versionsOut: VersionSet.nullable(),
  receipt: ReceiptId.nullable(),
  release: ReleaseId.nullable(),
  /** What made it fail, and what to do about it, where the error says so. */
  failure: z.strictObject({ code: z.string(), message: z.string(), hint: z.string().exactOptional() }).nullable(),
  startedAt: z.number(),
  endedAt: z.number().nullable(),
})
export type Run = z.infer<typeof Run>

/** One line of a run's story: metrics of an update, an evaluation, a phase that began. */
export const RunEvent = z.strictObject({
  run: RunId,
  /** 0, 1, 2 … within the run. */
  sequence: z.int().nonnegative(),
  type: z.string().min(1),
  data: z.record(z.string(), Json),
  at: z.number(),
})
export type RunEvent = z.infer<typeof RunEvent>

/** Where a run can go on from: everything the loop needs, its large parts as blobs. */
export const Checkpoint = z.strictObject({
  run: RunId,
  /** 0, 1, 2 … within the run; the highest is the one to resume from. */
  sequence: z.int().nonnegative(),
  state: Json,
  blobs: z.record(z.string(), BlobRef),
  at: z.number(),
})
export type Checkpoint = z.infer<typeof Checkpoint>
