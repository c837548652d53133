import {
  type Assignment,
  type Canary,
  type CanaryArm,
  type ParameterName,
  type Release,
  type ServedBy,
  sha256,
  type TrajectoryId,
  type Version,
} from '../core/index.ts'
import { shareOf } from './canary-record.ts'

/** Versions that answer together, by Parameter. */
export type Versions = ReadonlyMap<ParameterName, Version>

/** What serves one agent, as it was loaded: nothing of it changes. */
export interface ServedAgent {
  /** Its {@link agentKey}. */
  readonly agent: string
  readonly release: Release
  readonly generation: number
  readonly versions: Versions
  /** What is tried beside it; `null` when nothing is. */
  readonly canary: { readonly canary: Canary; readonly versions: Versions } | null
}

/** Bits of a hash that a double holds exactly. */
const bits = 52

/** Where a session lies in [0, 1): uniform over sessions for every salt, and the same for ever. */
export function placeOf(salt: string, session: TrajectoryId): number {
  return Number.parseInt(sha256(JSON.stringify([salt, session])).slice(0, bits / 4), 16) / 2 ** bits
}

/**
 * What answers a session.
 * - A new one gets the candidate of a running canary when its place lies below the share in force: who has it keeps it
 *   while the share rises.
 * - One that the running canary assigned keeps its arm.
 * - One that began before the canary, or under one that has ended, gets what serves everybody, and stays outside the
 *   evidence.
 * - While nobody watches the canary, all get what serves everybody: new ones stay outside the evidence, and those of the
 *   candidate get it again when somebody watches again.
 * @param watched whether somebody watches the canary that runs.
 * @param known what served it when it began; `null` for a new one.
 */
export function assignmentOf(
  served: ServedAgent,
  session: TrajectoryId,
  known: ServedBy | null,
  watched: boolean,
): Assignment {
  const running = watched ? (served.canary?.canary ?? null) : null
  const servedBy = known ?? { release: served.release.id, canary: running && draw(running, session) }
  const tried = running !== null && servedBy.canary?.id === running.id && servedBy.canary.arm === 'candidate'
  if (served.canary && tried) {
    const { canary, versions } = served.canary
    return { servedBy, versions, generation: canary.generation, learned: true }
  }
  const { versions, generation, release } = served
  return { servedBy, versions, generation, learned: release.receipt !== null }
}

function draw(canary: Canary, session: TrajectoryId): NonNullable<ServedBy['canary']> {
  const share = shareOf(canary)
  const arm: CanaryArm = placeOf(canary.salt, session) < share ? 'candidate' : 'baseline'
  return { id: canary.id, arm, propensity: arm === 'candidate' ? share : 1 - share }
}
