import type { LearnerEvent, LearnEvent } from '../../learn/index.ts'
import { learnerLine } from '../../report/index.ts'

/** Prints what learners tell: lines for people, or JSON lines for machines. */
export function learnerEvents(json: boolean): (event: LearnerEvent | LearnEvent) => void {
  return (event) => {
    const line = json ? jsonLine(event) : learnerLine(event)
    if (line !== null) process.stdout.write(`${line}\n`)
  }
}

const jsonLine = (event: LearnerEvent | LearnEvent) => (event.type === 'progress' ? null : JSON.stringify(event))
