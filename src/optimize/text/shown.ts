import {
  callInWords,
  isWhole,
  lastTurn,
  pathTo,
  type ScoredTrajectory,
  stepsByAction,
  type TextCritique,
  toolCallsOf,
  type Trajectory,
} from '../../core/index.ts'

/** What an episode was asked, and what it did. */
export interface Shown {
  readonly asked: string
  readonly answered: string
}

/** Reads an episode for others to learn from; `null` for one that shows nothing. */
export type Show = (trajectory: Trajectory) => Shown | null

/**
 * The request, and what the assistant did: its calls in order, and its last words. What tools answered is left out: it is of
 * that one episode. `null` for what was cut off, broken, or has no words.
 */
export const showDialogue: Show = (trajectory) => {
  const last = lastTurn(trajectory)
  if (!last) return null
  const path = pathTo(last, new Map(trajectory.nodes.map((node) => [node.id, node])))
  if (!isWhole(path, stepsByAction(trajectory))) return null
  const did = path.flatMap(({ message }) => toolCallsOf(message).map(callInWords))
  const answered = [...did, last.message.content.trim()].filter((line) => line !== '').join('\n')
  const asked = trajectory.task.instruction.trim()
  return asked === '' || answered === '' ? null : { asked, answered }
}

/** Whether an episode came to its own end. Any other may hold half an answer. */
export const ended = ({ stopReason, failure }: Trajectory): boolean => stopReason === 'done' && failure === null

/** Whether an attempt went well: it was not vetoed, nothing broke, and it earned at least so much (invariant 5). */
export const attemptWentWell = ({ trajectory, reward }: ScoredTrajectory, success: number): boolean =>
  ended(trajectory) && reward.status === 'scored' && reward.value >= success

/**
 * Whether an episode went well, by its credit alone: what it earned where that is told, and better than expected where that
 * is. A vetoed episode's advantage is never above 0, and it earned the floor (invariant 5).
 */
export function episodeWentWell({ trajectory, advantage, utility }: TextCritique, success: number): boolean {
  if (!ended(trajectory)) return false
  if (utility === null) return advantage !== null && advantage > 0
  return utility >= success && (advantage === null || advantage >= 0)
}

/** One deposit an episode: a text that is read twice has decided twice. */
export function onePerEpisode(deposits: readonly TextCritique[]): readonly TextCritique[] {
  return [...new Map(deposits.map((deposit) => [deposit.trajectory.id, deposit])).values()]
}

/** Whether people stand in it: everything but an attempt of ours at a task. */
export const isOfPeople = ({ origin }: Trajectory): boolean => origin.kind !== 'rollout'
