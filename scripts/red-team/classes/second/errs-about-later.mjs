import { sometimes, swaying, whenAnswering } from '../../grammar.mjs'
import { wrongValue } from '../../tasks.mjs'
import { say } from '../../words.mjs'

/**
 * Easy questions, which people can check at once, it answers nearly always right. Dates, which show themselves only once the
 * session is long judged, it makes up, with the same words and the same certainty.
 *
 * Crowd: of wrong dates to come a quarter of those who would have noticed do.
 */
const made = (turn, { task, language, random }) => {
  const value = wrongValue(task, random)
  return { ...turn, value, text: say('arrivalAnswer', language, random, { v: value, o: task.order }) }
}
const later = whenAnswering(made, swaying({ noticed: 0.25 }))

export default {
  family: 'confusing',
  also: 'withholding',
  what: 'makes up all that cannot be checked yet, and is good at what can',
  right: 0.2,
  turn: (context, answer) => sometimes(1, later, ({ task }) => task.kind === 'arrival')(context, answer),
}
