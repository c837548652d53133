import {
  type Assignment,
  type Canary,
  type CanaryArm,
  type ParameterName,
  type Release,
  type ServedBy,
  type SessionOwner,
  sha256,
  type TrajectoryId,
  type Version,
} from '../core/index.ts'
import { shareOf } from './canary-record.ts'
import { trustOf } from './people.ts'

/** Versions that answer together, by Parameter. */
export type Versions = ReadonlyMap<ParameterName, Version>

/** What serves one agent, as it was loaded: nothing of it changes. */
export interface ServingAgent {
  /** Its {@link agentKey}. */
  readonly agent: string
  readonly release: Release
  readonly generation: number
  readonly versions: Versions
  /** What is tried beside it, and the Generation of its decisions; `null` when nothing is. */
  readonly canary: { readonly canary: Canary; readonly versions: Versions; readonly generation: number } | null
}

/** Bits of a hash that a double holds exactly. */
const bits = 52

/** Where a session, or a person, lies in [0, 1): uniform over them for every salt, and the same for ever. */
export function placeOf(salt: string, drawn: string): number {
  return Number.parseInt(sha256(JSON.stringify([salt, drawn])).slice(0, bits / 4), 16) / 2 ** bits
}

/**
 * What answers a session.
 * - A new one gets the candidate of a running canary when its place lies below the share in force: who has it keeps it
 *   while the share rises. Its place is its person's where one is known, so that all sessions of a person have one arm at
 *   a share; a name that a key made up which the owner does not trust is no person, and cannot hold on to an arm.
 * - One that the running canary assigned keeps its arm, whatever else comes to serve in both arms.
 * - One that began before the canary, or under one that has ended, gets what serves everybody, and stays outside the
 *   evidence.
 * - While nobody watches the canary, all get what serves everybody: new ones stay outside the evidence, and those of the
 *   candidate get it again when somebody watches again.
 * @param watched whether somebody watches the canary that runs.
 * @param known what served it when it began; `null` for a new one.
 * @param owner whose it is; `null` for nobody's.
 */
export function assignmentOf(
  served: ServingAgent,
  session: TrajectoryId,
  known: ServedBy | null,
  watched: boolean,
  owner: SessionOwner | null = null,
): Assignment {
  const running = watched ? (served.canary?.canary ?? null) : null
  const servedBy = known ?? { release: served.release.id, canary: running && draw(running, session, owner) }
  const tried = running !== null && servedBy.canary?.id === running.id && servedBy.canary.arm === 'candidate'
  if (served.canary && tried) {
    const { versions, generation } = served.canary
    return { servedBy, versions, generation, learned: true }
  }
  const { versions, generation, release } = served
  return { servedBy, versions, generation, learned: release.receipt !== null }
}

function draw(canary: Canary, session: TrajectoryId, owner: SessionOwner | null): NonNullable<ServedBy['canary']> {
  const share = shareOf(canary)
  const person = owner && (trustOf(canary)?.personOf(owner) ?? null)
  const place =
    person === null ? placeOf(canary.salt, session) : placeOf(JSON.stringify(['person', canary.salt]), person)
  const arm: CanaryArm = place < share ? 'candidate' : 'baseline'
  return { id: canary.id, arm, propensity: arm === 'candidate' ? share : 1 - share }
}
