import {
  CanaryId,
  mintVersion,
  type ParameterName,
  type ParameterValue,
  ReleaseId,
  type Repositories,
  RunId,
  type Version,
  type VersionSet,
} from '../core/index.ts'
import { InputError, present } from '../errors/index.ts'
import { servingIn } from './canary-changes.ts'
import { patchOf } from './patch.ts'

/** A candidate that a person puts together; what it leaves out is what serves. */
export interface MadeByHand {
  /** A release, a canary or a completed run of the agent, whose versions are tried. */
  readonly from?: string
  /** Values by Parameter; they go before what `from` has. */
  readonly values?: Readonly<Record<ParameterName, ParameterValue>>
}

/**
 * The versions of a candidate that a person puts together, for {@link Registry.startCanary}; writes nothing.
 * @throws UnknownCandidateError for a `from` that is none of the agent's; UnknownAgentError.
 */
export async function versionsByHand(
  store: Pick<Repositories, 'canaries' | 'releases' | 'runs' | 'versions'>,
  agent: string,
  { from, values = {} }: MadeByHand,
): Promise<readonly Version[]> {
  const { release } = await servingIn(store, agent)
  const set = from === undefined ? {} : await setOf(store, agent, from)
  const versions = new Map<ParameterName, Version>()
  for (const [parameter, id] of Object.entries(set)) {
    versions.set(parameter, present(await store.versions.get(id), `version ${id}`))
  }
  for (const [parameter, value] of Object.entries(values)) {
    const serves = release.versions[parameter]
    const origin = { parents: serves === undefined ? [] : [serves], run: null }
    versions.set(parameter, mintVersion(parameter, value, origin))
  }
  return [...versions.values()]
}

async function setOf(
  { canaries, releases, runs }: Pick<Repositories, 'canaries' | 'releases' | 'runs'>,
  agent: string,
  from: string,
): Promise<VersionSet> {
  const release = await releases.get(ReleaseId.parse(from))
  if (release?.agent === agent) return release.versions
  const canary = await canaries.get(CanaryId.parse(from))
  if (canary?.agent === agent) {
    const began = await releases.get(canary.baseline)
    return patchOf(canary.candidate, began?.versions ?? {})
  }
  const run = await runs.get(RunId.parse(from))
  if (run?.agent === agent && run.versionsOut) return run.versionsOut
  throw new UnknownCandidateError(agent, from)
}

/** The agent has nothing of this id that could be tried. */
export class UnknownCandidateError extends InputError {
  constructor(agent: string, from: string) {
    super({
      code: 'release/unknown-candidate',
      message: `The agent "${agent}" has no release, no canary and no run with a candidate called ${from}.`,
      hint: 'List them with `ratchet releases`, `ratchet canaries` and `ratchet runs`.',
    })
  }
}
