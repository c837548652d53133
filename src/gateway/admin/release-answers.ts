import { z } from 'zod'
import { Canary, Pin } from '../../core/index.ts'
import type { AgentOverview, AgentState } from '../../release/index.ts'

export const ReleaseAnswer = z.object({
  id: z.string(),
  /** Version of each Parameter. */
  versions: z.record(z.string(), z.string()),
  receipt: z.string().nullable(),
  run: z.string().nullable(),
  createdAt: z.number(),
  /** What it rests on. */
  evidence: z.enum(['initial', 'held-out', 'canary', 'audited', 'behaviour-only']),
  serving: z.boolean(),
  /** That its decisions carry, or carried last; `null` for one that never served. */
  generation: z.number().nullable(),
})

export const CanaryAnswer = Canary.omit({ salt: true }).extend({ share: z.number() })

export const AgentAnswer = z.object({
  agent: z.string(),
  /** Id of the release that serves. */
  serving: z.string(),
  generation: z.number(),
  /** When it came to serve, in milliseconds since the epoch. */
  since: z.number(),
  pin: Pin.nullable(),
  canary: CanaryAnswer.nullable(),
})

/** By the tenant's own name. */
export function shownAgent({ canary, pin, ...state }: AgentState, agent: string): z.infer<typeof AgentAnswer> {
  return { ...state, agent, pin: pin && { ...pin, agent }, canary: canary && { ...canary, agent } }
}

export function shownRelease({ release, ...listed }: AgentOverview['releases'][number]): z.infer<typeof ReleaseAnswer> {
  const { id, versions, receipt, run, createdAt } = release
  const { evidence, serving, activation } = listed
  return { id, versions, receipt, run, createdAt, evidence, serving, generation: activation?.generation ?? null }
}
