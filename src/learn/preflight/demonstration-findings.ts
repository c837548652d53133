import type { ToolDefinition } from '../../core/index.ts'
import { agreementFindings } from './agreement-findings.ts'
import { callFindings, type Numbered } from './call-findings.ts'
import { acts, namesOf, type WrittenDemonstration, turnsOf } from './written-demonstration.ts'
import { endingFindings } from './ending-findings.ts'
import { counted, type Finding, gravity, quoted } from './finding.ts'
import { unreadAnswers } from './unread-answers.ts'

/**
 * What can be seen of demonstrations by reading them: calls that the environment cannot carry out, conversations in which
 * the assistant does nothing, ends that are missing, contradictions and copies, answers that nothing told. No demonstrations
 * are no finding. Pure.
 * @param tools those of the environment, for demonstrations that do not say which were at hand.
 */
export function demonstrationFindings({
  demonstrations,
  tools,
}: {
  readonly demonstrations: readonly WrittenDemonstration[]
  readonly tools: readonly ToolDefinition[]
}): readonly Finding[] {
  const shown = demonstrations.map(
    ({ messages, tools: own = tools }, i): Numbered => ({ number: i + 1, turns: turnsOf(messages), tools: own }),
  )
  const active = shown.filter(({ turns }) => turns.some(acts))
  return [
    ...withoutActs(demonstrations, shown),
    ...callFindings(shown),
    // What ends an episode is one of its tools: those with other tools have a custom of their own.
    ...[...new Set(active.map((one) => namesOf(one.tools)))].flatMap((names) =>
      endingFindings(active.filter((one) => namesOf(one.tools) === names)),
    ),
    ...agreementFindings(demonstrations),
    ...unreadAnswers(demonstrations),
  ]
}

function withoutActs(demonstrations: readonly WrittenDemonstration[], shown: readonly Numbered[]): readonly Finding[] {
  const idle = shown.filter(({ turns }) => !turns.some(acts))
  const [first] = idle
  if (first === undefined) return []
  const opening = demonstrations[first.number - 1]?.messages.at(-1)?.content ?? ''
  const example = `demonstration ${first.number}, which ends with ${quoted(opening)}`
  const hold = counted(idle.length, shown.length, 'demonstration', ['holds', 'hold'])
  return [
    {
      severity: gravity(idle.length, shown.length),
      code: 'learn/no-act',
      message: `${hold} no act of the assistant. For example, ${example}.`,
      hint: 'Give conversations in which the assistant calls a tool or says something.',
      n: idle.length,
      of: shown.length,
      example,
    },
  ]
}
