import type { Group } from '../core/index.ts'

/** A batch as one group, for estimators whose baseline is the batch's: what they compare is not attempts at one Task. */
export function oneGroup(groups: readonly Group[]): readonly Group[] {
  const [first] = groups
  return first ? [{ id: first.id, attempts: groups.flatMap(({ attempts }) => attempts) }] : []
}
