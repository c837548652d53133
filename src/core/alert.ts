import { z } from 'zod'
import { AlertId, RunId } from './id.ts'
import { Json } from './json.ts'

/**
 * Something that people should know and that the loop acts on.
 * - `drift`: what comes in or what is earned is not what it was; opens a learning run.
 * - `guard`: guards veto more of the sessions than they did.
 * - `flood`: one reporter says more than its share; what it said beyond is left out.
 * - `rollback`: a canary or a release went back.
 * - `audit`: the source of truth says nothing, a reviewer says the same of everything or contradicts the others, or nobody but a
 *   judge says what is true.
 * - `learning`: a run over traffic went back from a step that went too far, or found requests on which nothing goes well.
 * - `declared`: a text was edited where it is declared, while a learned one serves; or it is declared as it was before, while
 *   another declared one serves.
 */
export const AlertKind = z.enum(['drift', 'guard', 'flood', 'rollback', 'audit', 'learning', 'declared'])
export type AlertKind = z.infer<typeof AlertKind>

/** Written once; `run` is filled in when it opened one. */
export const Alert = z.strictObject({
  id: AlertId,
  agent: z.string().min(1),
  kind: AlertKind,
  /** What it is about: a stream (`reward`, `tool-errors`, `task-mix`, `vetoes`), a reporter, a canary. */
  name: z.string().min(1).max(256),
  /** One sentence. */
  message: z.string(),
  evidence: z.record(z.string(), Json),
  /** The learning run that it opened; `null` when none. */
  run: RunId.nullable(),
  at: z.number(),
})
export type Alert = z.infer<typeof Alert>
