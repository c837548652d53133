import type { LearnerEvent, TrafficEvent } from '../../learn/index.ts'
import { learnerLine } from './learner-lines.ts'

/** Prints what learners tell: lines for people, or JSON lines for machines. */
export function learnerEvents(json: boolean): (event: LearnerEvent | TrafficEvent) => void {
  return (event) => {
    const line = json ? jsonLine(event) : learnerLine(event)
    if (line !== null) process.stdout.write(`${line}\n`)
  }
}

const jsonLine = (event: LearnerEvent | TrafficEvent) => (event.type === 'progress' ? null : JSON.stringify(event))
