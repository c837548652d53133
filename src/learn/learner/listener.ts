import type { LearnerEvent } from './events.ts'
import { problem } from './problem.ts'

/**
 * Makes a listener's errors its own: they end nothing of what it is told of. The first is told to it as a problem; where it
 * cannot take that either, to the process, as a warning.
 * @param onEvent whoever listens, to what learners tell and perhaps to more.
 */
export function listener<E>(
  agent: string,
  onEvent: ((event: E | LearnerEvent) => void) | undefined,
): (event: E | LearnerEvent) => void {
  let failed = false
  return (event) => {
    try {
      onEvent?.(event)
    } catch (error) {
      if (failed) return
      failed = true
      const told = problem(agent, 'listen', error)
      try {
        onEvent?.(told)
      } catch {
        process.emitWarning(`Whoever listens to the learner of "${agent}" fails: ${told.message}`)
      }
    }
  }
}
