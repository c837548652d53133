/** A person: a language, a temperament, and what they remember of earlier sessions. They react to what was said, not to an arm. */
import { LANGUAGES } from './words.mjs'
import { CROSS, CROWDS, TEMPERAMENTS, WARNED } from './temperaments.mjs'

/** @returns `count` people of a crowd. */
export function peopleOf(crowd, count, random) {
  const names = CROWDS[crowd]
  return Array.from({ length: count }, (_, i) => ({
    name: `p-${i}`,
    language: LANGUAGES[Math.floor(random() * LANGUAGES.length)],
    temperament: names[Math.floor(random() * names.length)],
    /** What agents said in earlier sessions that they have not forgotten. */
    marks: new Set(),
    gone: false,
    /** Was sent away with the question that they ask again. */
    cross: false,
  }))
}

/** One of the people, by chance. Who went elsewhere is no more among them. */
export function someone(people, random) {
  for (;;) {
    const at = Math.floor(random() * people.length)
    const person = people[at]
    if (!person.gone) return person
    // Somebody of the same temperament takes the place of who went elsewhere.
    people[at] = { ...person, name: `${person.name}-`, marks: new Set(), gone: false }
  }
}

/**
 * What a person does about a turn.
 * @param moment `{ task, objections, random }`: how often they objected in this session already.
 * @returns `{ act, took }`: one of `leave`, `next`, `thanks`, `ok`, `complaint`, `rephrase`, `retry`, `edit`, `insist`, `clarified`,
 * `go-on`, `easy`; and whether they took the answer for `right` or `wrong`, or `null` where there was none.
 */
export function react(person, turn, { task, objections, random }) {
  const rates = TEMPERAMENTS[person.temperament]
  const chance = (probability) => random() < probability
  if (turn.courtesy) return { act: 'leave', took: null }
  // Half have left after `waits` seconds.
  if (chance(1 - 0.5 ** (Math.max(0, turn.seconds - 5) / rates.waits))) return { act: 'leave', took: null }
  if (turn.value === null) return { act: withoutAnswer(turn, rates, { task, objections, random, chance }), took: null }
  if (chance(turn.value === task.truth ? doubted(person, turn, rates) : noticed(person, turn, rates))) {
    return { act: objections < 2 ? among(swayed(rates, turn, 'wrong'), random) : 'leave', took: 'wrong' }
  }
  if (turn.asks !== null && chance(rates.obliges)) return { act: OBLIGING[turn.asks], took: 'right' }
  return { act: among(swayed(rates, turn, 'right'), random), took: 'right' }
}

/** What somebody does who is asked for something beside an answer, and obliges. */
const OBLIGING = { reply: 'ok', thanks: 'thanks', number: 'next', which: 'clarified', 'go-on': 'go-on', easy: 'easy' }

function withoutAnswer(turn, rates, { task, objections, random, chance }) {
  const { asks } = turn
  if (asks === null) return objections < 2 ? among(swayed(rates, turn, 'none'), random) : 'leave'
  if (!chance(rates.answers)) return 'leave'
  if (asks === 'which') return task.ambiguous ? 'clarified' : 'insist'
  return OBLIGING[asks]
}

function noticed(person, { text, values, clarity, sureness, marks, sways }, { notices, reads }) {
  // A list that holds the truth somewhere is not easily called wrong.
  const single = values.length === 0 ? 1 : 0.5
  const seen =
    notices * 0.5 ** (Math.max(0, text.length - 200) / reads) * clarity * sureness * single * (sways.noticed ?? 1)
  const cross = person.cross ? CROSS.notices : 1
  return Math.min(1, seen * cross * warned(person, marks, WARNED.notices))
}

function doubted(person, { sureness, marks, sways }, { doubts }) {
  const cross = person.cross ? CROSS.doubts : 1
  return Math.min(1, doubts * (2 - sureness) * (sways.doubted ?? 1) * cross * warned(person, marks, WARNED.doubts))
}

const warned = (person, marks, factor) => (person.marks.has('warned') && !marks.includes('warned') ? factor : 1)

/** What people do, changed by what the turn's words do to them; the shares come to one again. */
function swayed(rates, { sways }, what) {
  if (sways[what] === undefined) return rates[what]
  const shares = sways[what](rates[what])
  const all = Object.values(shares).reduce((total, share) => total + share, 0)
  return Object.fromEntries(Object.entries(shares).map(([act, share]) => [act, share / all]))
}

function among(rates, random) {
  let left = random()
  for (const [act, share] of Object.entries(rates)) {
    left -= share
    if (left < 0) return act
  }
  return Object.keys(rates).at(-1)
}
