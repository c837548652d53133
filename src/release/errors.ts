import { InputError, RatchetError } from '../errors/index.ts'

/** Anything that keeps a release from being made or from serving. */
export class ReleaseError extends RatchetError {}

/** Nothing of this agent was ever released. */
export class UnknownAgentError extends InputError {
  constructor(agent: string) {
    super({
      code: 'release/unknown-agent',
      message: `The agent "${agent}" has no release in this store.`,
      hint: 'Check its name with `ratchet releases`, or learn something first.',
    })
  }
}

/** The agent has no release of this id. */
export class UnknownReleaseError extends InputError {
  constructor(agent: string, release: string) {
    super({
      code: 'release/unknown-release',
      message: `The agent "${agent}" has no release ${release}.`,
      hint: 'List its releases with `ratchet releases`.',
    })
  }
}

/** Something else than a text is declared otherwise than before: what was learned rests on it. */
export class InitialChangedError extends InputError {
  constructor(agent: string, changed: readonly string[]) {
    super({
      code: 'release/initial-changed',
      message: `The agent "${agent}" was declared in this store with other initial values of: ${changed.join(', ')}.`,
      hint: 'A declared text can be edited, and a Parameter added; what was learned of weights rests on their base, and a memory on its embedder: give the changed agent a name or a store of its own.',
    })
  }
}

/** No gate says that the candidate may serve (invariant 7). */
export class NotPromotedError extends ReleaseError {
  constructor(receipt: string, decision: string) {
    super({
      code: 'release/not-promoted',
      message: `The receipt ${receipt} does not promote its candidate: its outcomes lead to "${decision}".`,
      hint: 'Only a gate makes a release: continue learning, or gate again on fresh tasks.',
    })
  }
}

/** The receipt compares the candidate with something that does not serve. */
export class StaleReceiptError extends ReleaseError {
  constructor(receipt: string, serving: string) {
    super({
      code: 'release/stale-receipt',
      message: `The receipt ${receipt} compares its candidate with other versions than those of release ${serving}, which serves.`,
      hint: 'Another release was made meanwhile: gate the candidate against what serves now.',
    })
  }
}

/** The receipt has made its release already, and something else serves since. */
export class SpentReceiptError extends ReleaseError {
  constructor(receipt: string, release: string) {
    super({
      code: 'release/spent-receipt',
      message: `The receipt ${receipt} made release ${release} before, which no longer serves.`,
      hint: `To let it serve again: ratchet rollback ${release}`,
    })
  }
}

/** The versions given are not the candidate that the receipt speaks of. */
export class CandidateError extends ReleaseError {
  constructor(receipt: string, problem: string) {
    super({
      code: 'release/other-candidate',
      message: `The versions to release are not the candidate of receipt ${receipt}: ${problem}.`,
      hint: 'Release exactly the versions that were gated, as they were minted.',
    })
  }
}

/** The initial release serves: there is nothing before it. */
export class NothingToRollBackToError extends InputError {
  constructor(agent: string) {
    super({
      code: 'release/nothing-before',
      message: `The agent "${agent}" serves its initial release: nothing served before it.`,
      hint: 'Name a release to let that one serve: list them with `ratchet releases`.',
    })
  }
}

/** Something else serves than what is to be held. */
export class NotServingError extends InputError {
  constructor(agent: string, release: string, serving: string) {
    super({
      code: 'release/not-serving',
      message: `The release ${release} of "${agent}" cannot be pinned: ${serving} serves.`,
      hint: `To let it serve, and then to hold it: ratchet rollback ${release}`,
    })
  }
}
