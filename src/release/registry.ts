import type {
  Canary,
  CanaryId,
  CanaryReceipt,
  GateDecision,
  Pin,
  Receipt,
  Release,
  ReleaseId,
  Store,
  Version,
} from '../core/index.ts'
import { InvariantError } from '../errors/index.ts'
import { replay } from '../gate/index.ts'
import { advance, type NewCanary, promote, type PromotedCanary, servingIn, start } from './canary-changes.ts'
import {
  appendEvent,
  assertOfCanary,
  type CanaryNote,
  endCanary,
  keepWatched,
  runningCanary,
  stillRunning,
} from './canary-record.ts'
import { NotPromotedError } from './errors.ts'
import { standingOf } from './patch.ts'
import { declare, declaredLast } from './declare.ts'
import type { CanaryStop, Serving, WentBack } from './serving.ts'
import { pin, type Promotion, release, rollBack, takeBack } from './release-changes.ts'

/**
 * What serves, what served, and the only way to change it: forward through a gate's receipt (invariant 7), back at once
 * and always, down to the agent as it was before it learned anything (invariant 9). Each change is one transaction.
 */
export class Registry {
  readonly #store: Store
  readonly #replay: (receipt: Receipt) => GateDecision

  /** @param replayReceipt makes a receipt's decision again from its outcomes; throws when it was tampered with. */
  constructor(store: Store, replayReceipt: (receipt: Receipt) => GateDecision = replay) {
    this.#store = store
    this.#replay = replayReceipt
  }

  /**
   * Records the agent as its code declares it: at first as what serves. A Parameter that does not serve joins; one that is
   * declared no more goes on serving, for programs that still declare it. A declaration that was never seen before lets its
   * texts serve where declared ones do; one that was learned stays, and an Alert tells of the edit. A declaration that was
   * seen before, of a restart, of older code or after an edit was taken back, changes no text: an Alert tells which release
   * has those that it declares. A pin holds off gates, and not the agent's owner.
   * @param versions the initial Version of every Parameter.
   * @returns the agent as it is declared, with everything learned turned off.
   * @throws InitialChangedError when something else than a text is declared otherwise than before.
   */
  initial(agent: string, versions: readonly Version[], at = Date.now()): Promise<Release> {
    return declare(this.#store, agent, versions, at)
  }

  /**
   * The release that serves now: all sessions, or those that no canary takes ({@link runningCanary}).
   * @throws UnknownAgentError when nothing was ever released.
   */
  current(agent: string): Promise<Serving> {
    return servingIn(this.#store, agent)
  }

  /** The canary that runs beside what serves, or `null`. */
  runningCanary(agent: string): Promise<Canary | null> {
    return runningCanary(this.#store, agent)
  }

  /** The agent's releases, newest first. */
  async list(agent: string, limit = 100): Promise<readonly Release[]> {
    return this.#store.releases.list({ agent, limit })
  }

  /**
   * Makes a release of what a gate promoted, and lets it serve. The receipt is replayed first, and must compare the
   * candidate with exactly what serves: everybody gets it at once, so that what changed since is not taken on trust. Asked
   * again with the same receipt while its release serves, gives that one. A canary that runs goes on where it tries other
   * Parameters, and both of its arms get this one; else it ends.
   * @throws NotPromotedError when the receipt's outcomes do not lead to `promote`; ReceiptError when it was changed.
   * @throws StaleReceiptError when something else serves than what the candidate was compared with.
   * @throws SpentReceiptError when its release was rolled back: a release comes back by rollback only.
   * @throws CandidateError when the versions are not those that were gated.
   * @throws PinnedError while what serves is pinned.
   */
  async promote(promotion: Promotion): Promise<Release> {
    this.#assertPromotes(promotion.receipt)
    return this.#store.transaction((tx) => release(tx, promotion, promotion.at ?? Date.now()))
  }

  /**
   * Lets an earlier release serve again, at once and pinned or not. A canary that runs goes on where the Parameters that it
   * tries serve as they did, in both of its arms; it ends where they do not, where the agent as it was before it learned is
   * named, or what serves already: then all sessions get that.
   * @param to the release; by default the one that served when the current one was promoted, so that repeated
   * rollbacks go back step by step to the initial release.
   * @throws UnknownAgentError | UnknownReleaseError | NothingToRollBackToError
   */
  async rollback(agent: string, to?: ReleaseId, at = Date.now()): Promise<Release> {
    return this.#store.transaction((tx) => rollBack(tx, agent, to, at))
  }

  /**
   * Goes back one step, by hand: a canary that runs goes back first; else what served before serves again.
   * @param to names a release instead, as in {@link rollback}: a canary that tries other Parameters goes on beside it.
   * @throws UnknownAgentError | UnknownReleaseError | NothingToRollBackToError
   */
  async goBack(agent: string, to?: ReleaseId, at = Date.now()): Promise<WentBack> {
    const canary = await this.runningCanary(agent)
    if (!canary || to !== undefined) {
      const release = await this.rollback(agent, to, at)
      return { release, canary: canary && (await this.#store.canaries.get(canary.id)) }
    }
    const ended = await this.rollBackCanary(canary.id, { reasons: ['It was taken back by hand.'], at })
    return { release: (await this.current(agent)).release, canary: ended }
  }

  /**
   * Turns everything learned off: the agent serves as the newest declaration has it, which is the base agent exactly
   * (invariant 9), and no canary runs. Parameters that only earlier ones have serve as they were declared last. A declaration
   * is as new as when it was seen first: where the code went back to an earlier one since, {@link rollback} to the release
   * that {@link initial} gives is what it says now.
   * @throws UnknownAgentError when nothing was ever released.
   */
  async off(agent: string, at = Date.now()): Promise<Release> {
    return this.#store.transaction(async (tx) => rollBack(tx, agent, (await declaredLast(tx, agent, at)).id, at))
  }

  /**
   * Lets a candidate serve a share of the sessions beside what serves: a patch, which goes on when another Parameter comes to
   * serve otherwise. Asked again by the same run with the same candidate while it runs, gives that canary. An agent has one
   * at a time, whatever Parameters they are of: a session has one arm, and its evidence says which candidate earned it.
   * @throws NotPromotedError | ReceiptError | StaleReceiptError for an admission that does not promote the candidate
   * over what serves of the Parameters that it tries.
   * @throws CandidateError when the versions are not those that were gated, or some are missing.
   * @throws NothingToTryError when the candidate is what serves; CanaryRunningError when another one runs;
   * CanaryEndedError when this one ran before; PinnedError while what serves is pinned.
   */
  async startCanary(canary: NewCanary): Promise<Canary> {
    if (canary.admission) this.#assertPromotes(canary.admission)
    return this.#store.transaction((tx) => start(tx, canary, canary.at ?? Date.now()))
  }

  /**
   * Lets the candidate have the next share of the sessions. One that stands elsewhere than `seen` stays as it is: whoever
   * looked at it before has decided.
   * @throws CanaryEndedError | PinnedError
   */
  async advanceCanary(seen: Canary, note: CanaryNote, at = Date.now()): Promise<Canary> {
    return this.#store.transaction((tx) => advance(tx, seen, note, at))
  }

  /** Notes in a canary's story why it stays where it stands. @throws CanaryEndedError */
  async holdCanary(id: CanaryId, note: CanaryNote, at = Date.now()): Promise<void> {
    await this.#store.transaction(async (tx) => appendEvent(tx, await stillRunning(tx, id), 'held', note, at))
  }

  /**
   * Lets a canary go on serving: gateways serve its candidate until `forMs` after `at`, and then only what serves
   * everybody, until somebody watches again. {@link watchCanary} does it at each look.
   * @throws CanaryEndedError
   */
  async keepWatched(id: CanaryId, time: { readonly at: number; readonly forMs: number }): Promise<void> {
    await this.#store.transaction((tx) => keepWatched(tx, id, time))
  }

  /**
   * Makes a release of a canary's candidate, lets it serve everybody, and closes the canary. Asked again with the same
   * receipt, gives the same release.
   * @throws NotPromotedError | ReceiptError when the receipt does not replay to `promote`.
   * @throws OtherCanaryError when it is not about this canary by the rules that it began with.
   * @throws CanaryEndedError | PinnedError | StaleReceiptError
   */
  async promoteCanary(receipt: CanaryReceipt, at = Date.now()): Promise<PromotedCanary> {
    this.#assertPromotes(receipt)
    return this.#store.transaction((tx) => promote(tx, receipt, at))
  }

  /**
   * Takes the candidate back from everybody, at once, pinned or not, and puts an Alert.
   * @throws CanaryEndedError | UnknownCanaryError; ReceiptError | OtherCanaryError for a receipt that shows nothing of it.
   */
  rollBackCanary(id: CanaryId, stop: CanaryStop): Promise<Canary> {
    return this.#stop(id, 'rolled-back', stop)
  }

  /** Ends a canary that came to no conclusion. @throws as {@link rollBackCanary}. */
  endCanary(id: CanaryId, stop: CanaryStop): Promise<Canary> {
    return this.#stop(id, 'ended', stop)
  }

  /**
   * Takes back what serves, as what is known of its canary now does not let it be promoted any more: labels of its audit
   * came, changed or were taken back after the promotion. What it was tried beside serves again.
   * @param receipt of the same canary, that replays to anything but a promotion.
   * @throws ReceiptError; OtherCanaryError where something else serves by now; PinnedError while what serves is pinned.
   */
  async takeBack(receipt: CanaryReceipt, reasons: readonly string[], at = Date.now()): Promise<Release> {
    if (this.#replay(receipt) === 'promote') throw new InvariantError(`receipt ${receipt.id} promotes`)
    return this.#store.transaction((tx) => takeBack(tx, receipt, reasons, at))
  }

  /**
   * Holds what serves: until {@link unpin}, no gate changes it.
   * @param options.release what is to be held: nothing is pinned unless it serves.
   * @throws UnknownAgentError | NotServingError
   */
  async pin(
    agent: string,
    reason: string,
    { at = Date.now(), ...named }: { readonly release?: ReleaseId; readonly at?: number } = {},
  ): Promise<Pin> {
    return this.#store.transaction((tx) => pin(tx, agent, { ...named, reason, at }))
  }

  /** Lets go of what serves. @returns the pin that was in force; `null` when there was none. */
  async unpin(agent: string): Promise<Pin | null> {
    return this.#store.transaction(async (tx) => {
      const pin = await tx.releases.pinned(agent)
      if (pin) await tx.releases.pin(agent, null)
      return pin
    })
  }

  #assertPromotes(receipt: Receipt): void {
    const decision = this.#replay(receipt)
    if (decision !== 'promote' || receipt.decision !== 'promote') throw new NotPromotedError(receipt.id, decision)
  }

  async #stop(
    id: CanaryId,
    status: 'rolled-back' | 'ended',
    { receipt, reasons, evidence, exposed, at = Date.now() }: CanaryStop,
  ): Promise<Canary> {
    if (receipt) this.#replay(receipt)
    return this.#store.transaction(async (tx) => {
      const canary = await stillRunning(tx, id)
      if (receipt) {
        const { patch } = await standingOf(tx, canary, (await servingIn(tx, canary.agent)).release)
        assertOfCanary(canary, patch, receipt)
      }
      return endCanary(tx, canary, {
        status,
        receipt: receipt ?? null,
        reasons,
        ...(evidence && { evidence }),
        exposed: exposed ?? null,
        at,
      })
    })
  }
}
