import {
  type Activation,
  contentHash,
  type GateDecision,
  mintVersion,
  type PairedReceipt,
  type ReceiptId,
  type Release,
  ReleaseId,
  type Repositories,
  type RunId,
  type Store,
  type Version,
  type VersionSet,
} from '../core/index.ts'
import { present } from '../errors/index.ts'
import { replay } from '../gate/index.ts'
import {
  CandidateError,
  InitialChangedError,
  NothingToRollBackToError,
  NotPromotedError,
  SpentReceiptError,
  StaleReceiptError,
  UnknownAgentError,
  UnknownReleaseError,
} from './errors.ts'

/** What serves an agent: a release, and the activation that let it. */
export interface Serving {
  readonly release: Release
  /** Its `generation` is what decisions made now carry. */
  readonly activation: Activation
}

/** What a gate promoted. */
export interface Promotion {
  readonly receipt: PairedReceipt
  /** The candidate's versions; those that the store has already may be left out. */
  readonly versions: readonly Version[]
  readonly run: RunId | null
  /** Milliseconds since the epoch. Default: now. */
  readonly at?: number
}

/**
 * What serves, what served, and the only way to change it: forward through a gate's receipt (invariant 7), back at once
 * and always, down to the agent as it was before it learned anything (invariant 9). Each change is one transaction.
 */
export class Registry {
  readonly #store: Store
  readonly #replay: (receipt: PairedReceipt) => GateDecision

  /** @param replayReceipt makes a receipt's decision again from its outcomes; throws when it was tampered with. */
  constructor(store: Store, replayReceipt: (receipt: PairedReceipt) => GateDecision = replay) {
    this.#store = store
    this.#replay = replayReceipt
  }

  /**
   * Records the agent as it is before learning, as its first release; asked again, gives that one.
   * @param versions the initial Version of every Parameter.
   * @throws InitialChangedError when the agent began with others.
   */
  async initial(agent: string, versions: readonly Version[], at = Date.now()): Promise<Release> {
    const set = versionSetOf(versions)
    return this.#store.transaction(async (tx) => {
      const [first] = await tx.releases.activations(agent)
      if (first) {
        const known = await releaseOf(tx, first)
        const changed = differences(known.versions, set)
        if (changed.length > 0) throw new InitialChangedError(agent, changed)
        return known
      }
      for (const version of versions) await tx.versions.put(version)
      const release = newRelease({ agent, versions: set, createdAt: at }, { receipt: null, run: null })
      await tx.releases.put(release)
      await tx.releases.activate({ agent, release: release.id, reason: 'initial', generation: 1, at })
      return release
    })
  }

  /**
   * What serves now.
   *
   * One release serves all sessions. A canary will let another one serve a share of them: it is here that a session
   * will be assigned to its release.
   * @throws UnknownAgentError when nothing was ever released.
   */
  async current(agent: string): Promise<Serving> {
    const activation = await this.#store.releases.current(agent)
    if (!activation) throw new UnknownAgentError(agent)
    return { activation, release: await releaseOf(this.#store, activation) }
  }

  /** The agent's releases, newest first. */
  async list(agent: string, limit = 100): Promise<readonly Release[]> {
    return this.#store.releases.list({ agent, limit })
  }

  /**
   * Makes a release of what a gate promoted, and lets it serve. The receipt is replayed first, and must compare the
   * candidate with exactly what serves. Asked again with the same receipt while its release serves, gives that one.
   * @throws NotPromotedError when the receipt's outcomes do not lead to `promote`; ReceiptError when it was changed.
   * @throws StaleReceiptError when something else serves than what the candidate was compared with.
   * @throws SpentReceiptError when its release was rolled back: a release comes back by rollback only.
   * @throws CandidateError when the versions are not those that were gated.
   */
  async promote({ receipt, versions, run, at = Date.now() }: Promotion): Promise<Release> {
    const decision = this.#replay(receipt)
    if (decision !== 'promote' || receipt.decision !== 'promote') throw new NotPromotedError(receipt.id, decision)
    assertGenuine(versions, receipt)

    const { agent, candidate } = receipt
    const release = newRelease({ agent, versions: candidate, createdAt: at }, { receipt: receipt.id, run })
    return this.#store.transaction(async (tx) => {
      const activation = await tx.releases.current(agent)
      if (!activation) throw new UnknownAgentError(agent)
      const earlier = await tx.releases.get(release.id)
      if (earlier) {
        if (activation.release === earlier.id) return earlier
        throw new SpentReceiptError(receipt.id, earlier.id)
      }
      const serving = await releaseOf(tx, activation)
      if (differences(serving.versions, receipt.baseline).length > 0) {
        throw new StaleReceiptError(receipt.id, serving.id)
      }

      for (const version of versions) await tx.versions.put(version)
      await assertComplete(tx, receipt)
      await tx.receipts.put(receipt)
      await tx.releases.put(release)
      await activate(tx, activation, release, 'promote', at)
      return release
    })
  }

  /**
   * Lets an earlier release serve again, at once.
   * @param to the release; by default the one that served when the current one was promoted, so that repeated
   * rollbacks go back step by step to the initial release.
   * @throws UnknownAgentError | UnknownReleaseError | NothingToRollBackToError
   */
  async rollback(agent: string, to?: ReleaseId, at = Date.now()): Promise<Release> {
    return this.#store.transaction(async (tx) => {
      const history = await tx.releases.activations(agent)
      const current = history.at(-1)
      if (!current) throw new UnknownAgentError(agent)
      const target = to ?? before(history, current)
      if (target === null) throw new NothingToRollBackToError(agent)
      const release = await tx.releases.get(target)
      if (release?.agent !== agent) throw new UnknownReleaseError(agent, target)
      if (release.id !== current.release) await activate(tx, current, release, 'rollback', at)
      return release
    })
  }

  /**
   * Turns everything learned off: the initial release serves, which is the base agent exactly (invariant 9).
   * @throws UnknownAgentError when nothing was ever released.
   */
  async off(agent: string, at = Date.now()): Promise<Release> {
    const [first] = await this.#store.releases.activations(agent)
    if (!first) throw new UnknownAgentError(agent)
    return this.rollback(agent, first.release, at)
  }
}

/** A release is named by what it is, so that the same promotion made twice is one release. */
function newRelease(
  release: Pick<Release, 'agent' | 'versions' | 'createdAt'>,
  origin: { readonly receipt: null; readonly run: null } | { readonly receipt: ReceiptId; readonly run: RunId | null },
): Release {
  const { agent, versions } = release
  const id = ReleaseId.parse(contentHash({ agent, versions, receipt: origin.receipt }).slice(0, 16))
  return { id, ...release, ...origin }
}

async function releaseOf({ releases }: Pick<Repositories, 'releases'>, activation: Activation): Promise<Release> {
  return present(await releases.get(activation.release), `release ${activation.release}`)
}

async function activate(
  tx: Repositories,
  current: Activation,
  release: Release,
  reason: Activation['reason'],
  at: number,
): Promise<void> {
  const generation = current.generation + 1
  await tx.releases.activate({ agent: release.agent, release: release.id, reason, generation, at })
}

/** What served when the release of `current` came into service through a gate; `null` for the initial release. */
function before(history: readonly Activation[], current: Activation): ReleaseId | null {
  const cameIn = history.findLastIndex(({ release, reason }) => release === current.release && reason !== 'rollback')
  return history[cameIn - 1]?.release ?? null
}

function versionSetOf(versions: readonly Version[]): VersionSet {
  return Object.fromEntries(versions.map(({ parameter, id }) => [parameter, id]))
}

/** The Parameters that two sets do not have at the same Version. */
function differences(a: VersionSet, b: VersionSet): readonly string[] {
  return Object.keys({ ...a, ...b }).filter((parameter) => a[parameter] !== b[parameter])
}

/** Holds that each version is the one its id names, and belongs to the candidate that was gated. */
function assertGenuine(versions: readonly Version[], receipt: PairedReceipt): void {
  for (const version of versions) {
    const { id, parameter, value } = version
    if (mintVersion(parameter, value, version).id !== id) {
      throw new CandidateError(receipt.id, `the value of version ${id} was changed after it was minted`)
    }
    if (receipt.candidate[parameter] !== id) {
      throw new CandidateError(receipt.id, `version ${id} of "${parameter}" was not gated`)
    }
  }
}

/** Holds that the store has every version of the candidate, and the candidate every Parameter that serves. */
async function assertComplete({ versions }: Repositories, { id, baseline, candidate }: PairedReceipt): Promise<void> {
  for (const parameter of Object.keys(baseline)) {
    if (candidate[parameter] === undefined) throw new CandidateError(id, `it has no version of "${parameter}"`)
  }
  for (const [parameter, version] of Object.entries(candidate)) {
    if (!(await versions.get(version))) {
      throw new CandidateError(id, `version ${version} of "${parameter}" is neither given nor in the store`)
    }
  }
}
