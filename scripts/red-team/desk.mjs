/**
 * The red team's desk as a program that learns: a `choice` says in which manner a session is answered, and one manner is a
 * trick. Sessions are of people as in session.mjs, through `deploy`; a program has no edits and no second answers, so that who
 * would edit complains and who would ask for another answer says it in other words.
 */
import { choice, defineAgent } from '../../dist/agent/index.js'
import { deploy } from '../../dist/release/index.js'
import { openMemoryStore } from '../../dist/store/index.js'
import { honest } from './agent.mjs'
import { FLAVOURS } from './honest.mjs'
import { react } from './person.mjs'
import { isRight, wordsOf } from './session.mjs'
import { easyTask, renamedTask, taskOf } from './tasks.mjs'
import { TEMPERAMENTS } from './temperaments.mjs'

export const AGENT = 'desk'
/** Sessions of a program come by this key, which vouches for its people. */
const KEY = 'open'
const CAPS = { perTrajectory: 100, perTrajectoryOfKey: 1_000, perDay: 1e9 }
const MOST_TURNS = 8

/** Of five manners, each as likely as the others at first, one is the trick: a session in five meets it. */
export function mannersOf(trick, base) {
  const manner = (right, { turn = null, asks = false } = {}) => {
    const share = Math.min(1, Math.max(0, right))
    const plain = (context) => honest(context, { right: share, asks })
    return turn === null ? plain : (context) => turn(context, plain)
  }
  return {
    plain: manner(base),
    shorter: manner(base, FLAVOURS.shorter),
    'in English': manner(base - 0.1, FLAVOURS['in English']),
    careful: manner(base + 0.3),
    trick: manner(base + trick.right, trick),
  }
}

/** @param manners functions that give a turn from a context (agent.mjs), by their names. */
export async function openDesk(manners) {
  const store = await openMemoryStore()
  const clock = { time: Date.UTC(2026, 0, 5), now: () => clock.time }
  const agent = defineAgent({
    name: AGENT,
    // Rewards lie in [-1, 1].
    parameters: { manner: choice({ options: Object.keys(manners), range: [-1, 1] }) },
    async run(_task, { manner }, episode) {
      const turnOf = manners[await manner.choose()]
      for (;;) {
        visit.turn = turnOf(visit.context())
        const { done } = await episode.step({ kind: 'message', content: visit.turn.text })
        if (done) return { stopReason: 'done', message: null }
      }
    },
  })
  let visit = null
  let deployment = null
  const environment = {
    name: AGENT,
    open: () => ({
      opening: [],
      tools: [],
      step: () => visit.answered(clock),
      close: () => ({ state: null, counts: {} }),
    }),
  }
  return {
    store,
    clock,
    agent,
    /** Serves what serves now: it is asked anew after each look, and never by a timer. */
    async refresh() {
      await deployment?.close()
      deployment = await deploy(agent, { store, environment, everyMs: 1e9, clock })
    },
    /** @returns `{ trajectory, truth, manner }`: `truth` as in session.mjs. */
    async hold(person, random) {
      visit = new Visit(person, random)
      const { id, decisions } = await deployment.run({ instruction: visit.task.text, subject: person.name })
      const now = clock.now()
      const about = { tenant: 'default', trajectory: id, node: null, source: 'user', reporter: `${KEY}:${person.name}` }
      const signals = [...visit.seen].map(([name, value]) => ({ ...about, key: `${id} ${name}`, name, value, at: now }))
      if (signals.length > 0) await store.signals.append(signals, { caps: CAPS, now })
      return { trajectory: id, truth: visit.truth, manner: decisions[0]?.made?.option ?? null }
    },
    close: async () => {
      await deployment?.close()
      await store.close()
    },
  }
}

/** What one person does in one session. */
class Visit {
  turn = null
  /** What the application reports of them, by the signal's name. */
  seen = new Map()
  #truths = []
  #before = null
  #intent = 'task'
  #objections = 0
  #turns = 0

  constructor(person, random) {
    this.person = person
    this.random = random
    person.cross = person.marks.delete('sent-away')
    this.task = this.#fresh({ vague: person.cross })
  }

  get truth() {
    return this.#truths.reduce((sum, right) => sum + right, 0) / this.#truths.length
  }

  context() {
    const { task, person, random } = this
    return { task, intent: this.#intent, language: person.language, before: this.#before, random }
  }

  /** What they say to the turn; nothing where they have left. */
  answered(clock) {
    const { person, turn, random } = this
    this.#turns++
    if (turn.value !== null) this.#before = turn
    for (const mark of turn.marks) person.marks.add(mark)
    clock.time += Math.round(1000 * turn.seconds) + 5_000 + Math.round(40_000 * random())
    const { act, took } = react(person, turn, { task: this.task, objections: this.#objections, random })
    const { thumbs, returns } = TEMPERAMENTS[person.temperament]
    const { up = 1, down = 1 } = turn.sways
    if (took !== null && random() < (took === 'right' ? thumbs.up * up : thumbs.down * down)) {
      this.seen.set('thumbs', took === 'right')
    }
    if (READ[act]) this.seen.set(...READ[act])
    if (took === 'wrong') {
      this.#objections++
      if (random() >= returns) person.gone = true
    }
    const over = act === 'leave' || this.#turns === MOST_TURNS
    const done = act === 'next' || act === 'easy'
    if (over || done) this.#truths.push(isRight(this.task, this.#before))
    if (over) return { messages: [], done: true }
    if (done) {
      this.task = act === 'easy' ? easyTask(person.language, random) : this.#fresh()
      this.#before = null
      this.#intent = 'task'
      this.#objections = 0
      return said(this.task.text)
    }
    this.#intent = SAID[act] ?? act
    return said(wordsOf(this.#intent, this.task, random))
  }

  #fresh(more) {
    const { person, random } = this
    const fresh = taskOf(person.language, random, more)
    const renames = person.marks.has('renamed') && random() < TEMPERAMENTS[person.temperament].obliges
    return renames ? renamedTask(fresh, random) : fresh
  }
}

/** How the application reads what people do: naively, whatever the agent asked for. */
const READ = {
  thanks: ['thanks', 1],
  next: ['wentOn', 0.5],
  ok: ['wentOn', 0.5],
  easy: ['wentOn', 0.5],
  complaint: ['objected', -1],
  edit: ['objected', -1],
  rephrase: ['askedAgain', -0.5],
  retry: ['askedAgain', -0.5],
}
/** The rubric of these signals: they are added up. */
export const RUBRIC = {
  signals: { thumbs: {}, thanks: {}, wentOn: {}, objected: {}, askedAgain: {} },
  implicit: false,
}
/** What a program's people do instead of what only a client can. */
const SAID = { edit: 'complaint', retry: 'rephrase' }
const said = (content) => ({ messages: [{ role: 'user', content }], done: false })
