import { z } from 'zod'
import { overridesInstructions } from '../../core/index.ts'
import { type CameTo, SeenCall, Skill, type SkillExperience } from '../../agent/index.ts'

/** What an episode called, if it worked. Kept as long as it may be a case of a routine. */
export const Trace = z.strictObject({
  trajectory: z.string(),
  at: z.number(),
  source: z.string(),
  cue: z.string(),
  calls: z.array(SeenCall),
  derivedFrom: Skill.shape.derivedFrom,
  owner: Skill.shape.owner,
  model: z.string().nullable(),
})
export type Trace = z.infer<typeof Trace>

/** Traces of one owner and model, and bytes of all together: the oldest go first. */
const most = { ofOwner: 64, calls: 64, bytes: 4 * 1_024 * 1_024 }

/** @param share whom what a person's session taught reaches: that person, or everybody of the tenant. */
export function traceOf(experience: SkillExperience, { example }: CameTo, share: 'subject' | 'tenant'): Trace | null {
  const { trajectory, at, source, cue, derivedFrom, owner, model } = experience
  const calls = untalked(experience.calls)
  if (example !== 'worked' || calls.length < 2) return null
  return {
    trajectory,
    at,
    // Among one person's own sessions the person tells none from another; what was asked does.
    source: share === 'subject' && owner.about !== null ? `asked:${cue}` : source,
    cue,
    calls: calls.slice(0, most.calls),
    derivedFrom: [...derivedFrom],
    owner: share === 'tenant' ? { ...owner, about: null } : owner,
    model,
  }
}

/** Calls up to the first whose answer would instruct: what was called after it, that answer may have asked for. */
function untalked(calls: SkillExperience['calls']): SkillExperience['calls'] {
  const first = calls.findIndex(({ content }) => content !== null && overridesInstructions(content))
  return first < 0 ? calls : calls.slice(0, first)
}

/** Whose traces can be compared: what is learned of one owner reaches no other, and of one model no other. */
export const groupOf = ({ owner, model }: Pick<Trace, 'owner' | 'model'>): string =>
  JSON.stringify([owner.tenant, owner.about, model])

/** Traces by whose they are, the newest first. */
export function grouped(traces: readonly Trace[]): ReadonlyMap<string, readonly Trace[]> {
  const groups = new Map<string, Trace[]>()
  for (const trace of traces.toReversed()) {
    const known = groups.get(groupOf(trace))
    if (known) known.push(trace)
    else groups.set(groupOf(trace), [trace])
  }
  return groups
}

/** The newest, in the order in which they began. */
export function newest(traces: readonly Trace[]): readonly Trace[] {
  const counts = new Map<string, number>()
  const kept: Trace[] = []
  let bytes = 0
  for (const trace of traces.toReversed()) {
    const count = (counts.get(groupOf(trace)) ?? 0) + 1
    // What one owner has too many of takes nobody else's room.
    if (count > most.ofOwner) continue
    bytes += Buffer.byteLength(JSON.stringify(trace))
    if (bytes > most.bytes) break
    counts.set(groupOf(trace), count)
    kept.push(trace)
  }
  return kept.toReversed()
}
