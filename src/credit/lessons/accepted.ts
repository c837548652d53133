import {
  type Demonstration,
  isUsers,
  isWhole,
  type ParameterName,
  shownTurns,
  type Signal,
  stepsByAction,
  type Trajectory,
  type TrajectoryNode,
} from '../../core/index.ts'
import { type OpinionReading, opinions } from './opinions.ts'
import { isSaidBy, isSaidByAny } from './served.ts'
import { pathTo } from './turn-tokens.ts'

/**
 * Answers that people took, to be imitated as they were sampled: rejection-sampling fine-tuning (RAFT, Dong et al. 2023,
 * section 3), in conversations that came to their end. An answer counts with all turns that led to it from its question on,
 * which must be the Parameter's as well: another model's tokens mean other words. What was said before the question is only
 * read. Where nothing is known of single answers, the last one is taken. One that people edited was not taken as it is.
 * @param signals that count.
 */
export async function acceptedIn(
  trajectory: Trajectory,
  signals: readonly Signal[],
  reading: OpinionReading & { readonly parameter: ParameterName; readonly others?: readonly ParameterName[] },
): Promise<readonly Demonstration[]> {
  if (trajectory.stopReason !== 'done') return []
  const liked = await opinions(trajectory, signals, reading)
  const { others = [] } = reading
  const answers = trajectory.nodes.filter(
    ({ id, message }) =>
      message.role === 'assistant' && !message.toolCalls?.length && !isSaidByAny(trajectory, id, others),
  )
  const taken = answers.some(({ id }) => liked.has(id))
    ? answers.filter(({ id }) => (liked.get(id) ?? 0) > 0)
    : answers.slice(-1)
  const edited = new Set(shownTurns({ trajectory, signals }).map(({ node }) => node.id))
  return taken
    .filter(({ id }) => !edited.has(id))
    .flatMap((answer) => sampledSince(trajectory, answer, reading.parameter))
}

function sampledSince(
  trajectory: Trajectory,
  answer: TrajectoryNode,
  parameter: ParameterName,
): readonly Demonstration[] {
  const path = [...pathTo(trajectory, answer), answer]
  const question = path.findLastIndex(({ message }) => isUsers(message))
  const turns = path.slice(question + 1)
  const sampled = turns.every(
    ({ id, message, spans }) =>
      message.role !== 'assistant' ||
      (spans.some(({ kind }) => kind === 'sampled') && isSaidBy(trajectory, id, parameter)),
  )
  if (!sampled || !isWhole(turns, stepsByAction(trajectory))) return []
  const tokens: number[] = []
  const learn: boolean[] = []
  for (const [i, { spans }] of path.entries()) {
    for (const { kind, tokens: some } of spans) {
      tokens.push(...some)
      learn.push(...some.map(() => i > question && kind === 'sampled'))
    }
  }
  return [{ tokens, learn }]
}
