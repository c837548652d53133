import { mintVersion, type Receipt, type Repositories, type Version, type VersionSet } from '../core/index.ts'
import { CandidateError } from './errors.ts'

/** What a receipt, or a canary that has none, says of its candidate. */
type Gated = Pick<Receipt, 'baseline' | 'candidate'> & { readonly id: string }

/**
 * Holds that each version is the one its id names, and belongs to the candidate that was gated.
 * @throws CandidateError
 */
export function assertGenuine(versions: readonly Version[], { id, candidate }: Pick<Gated, 'id' | 'candidate'>): void {
  for (const version of versions) {
    const { parameter, value } = version
    if (mintVersion(parameter, value, version).id !== version.id) {
      throw new CandidateError(id, `the value of version ${version.id} was changed after it was minted`)
    }
    if (candidate[parameter] !== version.id) {
      throw new CandidateError(id, `version ${version.id} of "${parameter}" was not gated`)
    }
  }
}

/**
 * Holds that the store has every version of the candidate, and the candidate every Parameter that serves.
 * @throws CandidateError
 */
export async function assertComplete(
  { versions }: Pick<Repositories, 'versions'>,
  { id, baseline, candidate }: Gated,
): Promise<void> {
  for (const parameter of Object.keys(baseline)) {
    if (candidate[parameter] === undefined) throw new CandidateError(id, `it has no version of "${parameter}"`)
  }
  for (const [parameter, version] of Object.entries(candidate satisfies VersionSet)) {
    if (!(await versions.get(version))) {
      throw new CandidateError(id, `version ${version} of "${parameter}" is neither given nor in the store`)
    }
  }
}
