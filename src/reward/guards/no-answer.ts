import type { Trajectory } from '../../core/index.ts'
import { saysSomething } from '../text/index.ts'
import { isWhole, ownTurns } from '../turns.ts'
import type { Guard } from './guard.ts'

/**
 * Vetoes an episode that ended without an answer. In traffic, where the client decides what is asked next, each turn must
 * say something, to its user or to a tool: one that ends at once, only thinks, or says what nobody can see (white space,
 * zero-width characters, empty markup) is none.
 * @param tool the tool whose call is the answer; without it, closing with a message is one.
 */
export function noAnswer({ tool }: { readonly tool?: string } = {}): Guard {
  return {
    name: 'no-answer',
    identity: `no-answer:${tool ?? ''}:2`,
    inspect: (trajectory) =>
      trajectory.origin.kind === 'traffic' && tool === undefined
        ? silentTurn(trajectory)
        : unanswered(trajectory, tool),
  }
}

function unanswered(trajectory: Trajectory, tool: string | undefined): string | null {
  const last = ownTurns(trajectory).at(-1)?.message
  if (!last) return 'the policy never spoke'
  const answered = tool === undefined ? saysSomething(last.content) : last.toolCalls?.some((call) => call.name === tool)
  return answered ? null : `the episode ended (${trajectory.stopReason}) without an answer`
}

/** A call that cannot be read says something too: that is {@link brokenCalls}' to judge. */
function silentTurn(trajectory: Trajectory): string | null {
  const turns = ownTurns(trajectory)
  if (turns.length === 0) {
    // A deployed program without weights speaks through its environment: what it decided is recorded, and no words.
    const isUnheard = trajectory.nodes.length === 0 && trajectory.decisions.length > 0
    return trajectory.stopReason === 'done' && !isUnheard ? 'the policy never spoke' : null
  }
  const silent = turns.find((turn) => {
    const { content, refusal = '', toolCalls = [], malformedCalls = [] } = turn.message
    return isWhole(turn) && toolCalls.length + malformedCalls.length === 0 && !saysSomething(`${content}\n${refusal}`)
  })
  return silent ? 'the policy ended its turn without a word' : null
}
