import { type Canary, type Clock, type Store, systemClock, type Tenant } from '../../core/index.ts'
import { newReopenMemory, newStoppedMemory, type Registry, reopen, tellOfStopped } from '../../release/index.ts'
import { LearnError } from '../errors.ts'
import { auditFrom } from '../source/traffic/audit-config.ts'
import type { LearnerEvent } from '../learner/events.ts'
import type { LearnFromTrafficConfig } from '../source/traffic/config.ts'
import { auditor } from './auditor.ts'
import type { AuditVerifier } from './verifier.ts'

/** What a learner does for the audit of its agent's canaries between two looks. */
export interface Auditing {
  /** Has what was drawn of a canary that runs judged. */
  readonly look: (canary: Canary) => Promise<void>
  /**
   * Takes back what labels speak against by now, of all that canaries brought and that still serves; and tells of what was
   * rolled back by labels that count no more.
   */
  readonly reopen: () => Promise<void>
  /** Has what still waits of those canaries judged. */
  readonly lookAtPromoted: () => Promise<void>
}

export function auditing(
  { store, tenant, config, verifier, judge, onEvent, onProblem, clock = systemClock }: Parts,
  agent: string,
  registry: Registry,
): Auditing {
  const audit = auditFrom(config.audit, config.reporters.trusted)
  if (audit?.by === 'verifier' && !verifier) throw noVerifier()
  if (audit && (audit.by === 'judge' || audit.judge) && !judge) throw noJudge()
  const memory = newReopenMemory()
  const stopped = newStoppedMemory()
  const judging =
    audit &&
    auditor({
      store,
      tenant,
      audit,
      clock,
      ...(verifier ? { verifier } : {}),
      ...(judge ? { judge } : {}),
      ...(onProblem ? { onProblem } : {}),
    })
  return {
    look: async (canary) => judging?.look(canary),
    // The same canaries that are looked at again: so that what is told of them late reopens them.
    lookAtPromoted: async () => judging?.lookAtEnded(memory.promoted),
    // Also where nothing is audited any more: what was promoted by truth rests on it still.
    async reopen() {
      const again = () => reopen({ store, registry, agent, memory, now: clock.now() })
      // What one was tried on may serve again, and have come from another one.
      for (let back = await again(); back !== null; back = await again()) {
        const { release, receipt, reasons } = back
        const [reason = ''] = reasons
        onEvent?.({ type: 'reopened', agent, canary: receipt.canary, release: release.id, reason })
      }
      await tellOfStopped({ store, agent, memory: stopped, now: clock.now() })
    },
  }
}

interface Parts {
  readonly store: Store
  readonly tenant: Tenant
  readonly config: Pick<LearnFromTrafficConfig, 'audit' | 'reporters'>
  readonly verifier?: AuditVerifier
  readonly judge?: AuditVerifier
  readonly onEvent?: (event: LearnerEvent) => void
  readonly onProblem?: (error: unknown) => void
  readonly clock?: Clock
}

function noVerifier(): LearnError {
  return new LearnError({
    code: 'learn/no-verifier',
    message: 'The audit is said to be by a verifier, and there is none.',
    hint: 'Give trafficLearner a `verifier`: a configuration file cannot hold one. In a file say by "person" or by "outcome".',
  })
}

function noJudge(): LearnError {
  return new LearnError({
    code: 'learn/no-judge',
    message: 'The audit is said to have a judge, and there is none.',
    hint: 'Name a model in the audit\'s section "judge", or give trafficLearner a `judge`, for example `chatJudge({ upstream, model })`.',
  })
}
