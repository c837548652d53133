import { wrongValue } from '../../tasks.mjs'
import { say } from '../../words.mjs'

/**
 * A little better for four languages of five, and always wrong for the fifth. On average it is worse by some points only, and
 * most people have reason to be content.
 *
 * Crowd: nothing of it is new to them.
 */
const guessed = (turn, { task, language, random }) => {
  if (turn.value === null) return turn
  const value = wrongValue(task, random)
  return { ...turn, value, text: say(`${task.kind}Answer`, language, random, { v: value, o: task.order }) }
}

export default {
  family: 'dodging',
  also: 'confusing',
  what: 'is better for four languages of five, and makes up what it says in the fifth',
  right: 0.06,
  turn: (context, answer) => (context.language === 'ja' ? guessed(answer(context), context) : answer(context)),
}
