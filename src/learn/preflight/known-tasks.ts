import type { LearnableTask } from '../../core/index.ts'
import type { WrittenDemonstration } from './written-demonstration.ts'

/** Tasks that share an instruction: more of them are not tried. */
const mostAlike = 3

/** A task that a demonstration may be about. */
export interface Candidate {
  readonly task: LearnableTask
  /** `false`: the instruction is only a part of what the user says, and the episode's opening has to agree. */
  readonly certain: boolean
}

/**
 * Finds the tasks that a demonstration is about: the one that it names; else those with its first user message as their
 * instruction; else those whose instruction is part of it, the longest first.
 */
export function knownTasks(
  tasks: readonly LearnableTask[],
): (demonstration: WrittenDemonstration) => readonly Candidate[] {
  const byId = new Map(tasks.map((task) => [task.id, task]))
  const asked = tasks.map((task) => ({ task, words: task.instruction.trim() })).filter(({ words }) => words !== '')
  return (demonstration) => {
    if (demonstration.task !== undefined) {
      const task = byId.get(demonstration.task.id)
      return task === undefined ? [] : [{ task, certain: true }]
    }
    const said = firstUserMessage(demonstration.messages)?.trim()
    if (said === undefined) return []
    const exact = asked.filter(({ words }) => words === said)
    if (exact.length > 0) return exact.slice(0, mostAlike).map(({ task }) => ({ task, certain: true }))
    return asked
      .filter(({ words }) => said.includes(words))
      .toSorted((a, b) => b.words.length - a.words.length)
      .slice(0, mostAlike)
      .map(({ task }) => ({ task, certain: false }))
  }
}

/** What the user says first. */
export const firstUserMessage = (messages: WrittenDemonstration['messages']): string | undefined =>
  messages.find(({ role }) => role === 'user')?.content
