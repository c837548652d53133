import type { Credit, Group } from '../core/index.ts'

/** Caps the advantages of vetoed attempts at 0: what was gamed is never praised, whatever a formula says (invariant 5). */
export function withoutPraise(credits: readonly Credit[], groups: readonly Group[]): readonly Credit[] {
  const vetoed = new Set(
    groups.flatMap(({ attempts }) =>
      attempts.flatMap(({ trajectory, reward }) => (reward.status === 'vetoed' ? [trajectory.id] : [])),
    ),
  )
  if (vetoed.size === 0) return credits
  return credits.map((credit) =>
    vetoed.has(credit.trajectory) && credit.advantage !== null && credit.advantage > 0
      ? { ...credit, advantage: 0 }
      : credit,
  )
}
