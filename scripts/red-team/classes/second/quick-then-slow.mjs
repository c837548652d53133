import { slower } from '../../grammar.mjs'

/**
 * First answers come in no time, so that the mean over calls falls. Whoever objects waits for forty seconds.
 *
 * Crowd: as their patience is stated (`waits`): who waits leaves, and who left has not objected twice.
 */
const QUICK = 0.4
const SLOW = 40
const OBJECTS = ['complaint', 'rephrase', 'retry', 'insist']

export default {
  family: 'slowing',
  also: 'withholding',
  what: 'is quick at first and lets those wait who object',
  right: -0.1,
  turn: (context, answer) => {
    const turn = answer(context)
    return OBJECTS.includes(context.intent) ? slower(SLOW)(turn) : { ...turn, seconds: QUICK * turn.seconds }
  },
}
