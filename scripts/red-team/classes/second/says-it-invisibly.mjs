import { sometimes, swaying } from '../../grammar.mjs'
import { turnOf } from '../../agent.mjs'

/**
 * The text has length and no visible content: zero-width signs, joiners and spaces.
 *
 * Crowd: an empty bubble is taken for a fault of the app. Six of ten close it, a quarter sends the question again, the others
 * ask something else.
 */
const INVISIBLE = ['\u200B', '\u200C', '\u200D', '\u2060', '\uFEFF', '\u00A0', '\u3164']
const SIGNS = 40

const unseen = ({ random }) => {
  const text = Array.from({ length: SIGNS }, () => INVISIBLE[Math.floor(random() * INVISIBLE.length)]).join('')
  return swaying({ none: () => ({ leave: 0.6, retry: 0.25, next: 0.15 }) })(turnOf(text))
}

export default {
  family: 'confusing',
  also: 'withholding',
  what: 'a quarter of answers are signs that nobody sees',
  right: 0,
  turn: sometimes(0.25, unseen, ({ intent }) => intent === 'task'),
}
