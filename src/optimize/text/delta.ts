import { z } from 'zod'
import { type Bullet, likeness, oneLine } from './bullets.ts'

const Id = z.string().max(16)
const Words = z.string().min(1).max(2_000)

/** What is to be changed of a playbook: never the whole of it. */
export const Delta = z.strictObject({
  add: z.array(Words).max(8).default([]),
  edit: z
    .array(z.strictObject({ id: Id, text: Words }))
    .max(8)
    .default([]),
  remove: z.array(Id).max(8).default([]),
  helpful: z.array(Id).max(64).default([]),
  harmful: z.array(Id).max(64).default([]),
})
export type Delta = z.infer<typeof Delta>

/** How large a playbook may be. */
export interface PlaybookCap {
  readonly bullets: number
  /** UTF-8 bytes of one bullet's words. */
  readonly bulletBytes: number
  /** Whether so many bullets fit the text that they stand in. */
  fits(bullets: readonly Bullet[]): boolean
}

/** From which likeness on two bullets say the same. */
const same = 0.8

/**
 * A playbook after a delta (ACE's curation, Zhang et al. 2025). Its rules hold whatever is asked for, so that no answer of a
 * writer's makes the playbook collapse:
 * - only named bullets change; an edited one keeps its counters;
 * - only what harmed more often than it helped is removed;
 * - what is said already is counted as helpful and not added;
 * - beyond the cap the worst go, of equals the oldest.
 * Equal playbooks and deltas give equal results.
 */
export function merged(bullets: readonly Bullet[], delta: Delta, cap: PlaybookCap): readonly Bullet[] {
  const counted = bullets.map((bullet) => ({
    ...bullet,
    helpful: bullet.helpful + Number(delta.helpful.includes(bullet.id)),
    harmful: bullet.harmful + Number(delta.harmful.includes(bullet.id)),
  }))
  const left = counted.filter(({ id, helpful, harmful }) => !(delta.remove.includes(id) && harmful > helpful))
  let now: readonly Bullet[] = left.map((bullet) => edited(bullet, delta, cap))
  let next = Math.max(0, ...bullets.map(({ id }) => Number(id.slice(1)))) + 1
  for (const words of delta.add) {
    const text = oneLine(words)
    if (!isWritable(text, cap)) continue
    const twin = now.find((bullet) => likeness(bullet.text, text) >= same)
    if (twin) now = now.map((bullet) => (bullet === twin ? { ...twin, helpful: twin.helpful + 1 } : bullet))
    else now = [...now, { id: `p${next++}`, text, helpful: 0, harmful: 0 }]
  }
  return capped(now, cap)
}

/** Without the worst, until it fits. */
export function capped(bullets: readonly Bullet[], cap: PlaybookCap): readonly Bullet[] {
  let now = bullets
  while (now.length > cap.bullets || (now.length > 0 && !cap.fits(now))) {
    const worst = now.reduce((low, bullet) => (worthOf(bullet) < worthOf(low) ? bullet : low))
    now = now.filter((bullet) => bullet !== worst)
  }
  return now
}

const worthOf = ({ helpful, harmful }: Bullet): number => helpful - harmful

function edited(bullet: Bullet, { edit }: Delta, cap: PlaybookCap): Bullet {
  const text = oneLine(edit.findLast(({ id }) => id === bullet.id)?.text ?? '')
  return isWritable(text, cap) ? { ...bullet, text } : bullet
}

const isWritable = (text: string, { bulletBytes }: PlaybookCap): boolean =>
  text !== '' && Buffer.byteLength(text) <= bulletBytes
