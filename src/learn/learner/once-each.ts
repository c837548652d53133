import type { LearnerEvent } from './events.ts'

/** Tells an event unless the last one of its kind said the same. */
export function onceEach(onEvent: ((event: LearnerEvent) => void) | undefined): (event: LearnerEvent) => void {
  const last = new Map<string, string>()
  return (event) => {
    const kind = event.type === 'problem' ? `problem ${event.during}` : event.type
    const text = JSON.stringify(event)
    if (last.get(kind) !== text) onEvent?.(event)
    last.set(kind, text)
  }
}
