import pc from 'picocolors'
import { CanaryId, parseInput, visible } from '../../../core/index.ts'
import { type ChangeFlags, throughGateway } from './change-serving.ts'
import { printOutcome } from './print-outcome.ts'

/**
 * `ratchet promote [CANARY]`: asks the gate now, and lets the candidate serve everybody if it says so. The gateway that
 * learns is asked: it knows how sessions are rewarded.
 */
export async function promoteCommand(canary: string | undefined, flags: ChangeFlags): Promise<void> {
  const body = canary === undefined ? {} : { canary: parseInput(CanaryId, canary, 'The canary') }
  const outcome = await throughGateway(flags, flags.agent ?? null, { route: 'promote', body })
  printOutcome(flags, outcome, ({ agent: { agent, serving, generation } }) => {
    return `${pc.green('✓')} ${visible(agent)} serves ${serving} from now on, generation ${generation}. Undo it with: npx ratchet rollback`
  })
}
