/** One session: a person asks, agents of either arm answer through the gateway's recorder, and the person reacts. */
import { report } from './place.mjs'
import { react } from './person.mjs'
import { easyTask, renamedTask, rephrased, taskOf } from './tasks.mjs'
import { TEMPERAMENTS } from './temperaments.mjs'
import { say } from './words.mjs'

const MOST_TURNS = 8

/**
 * @param agents `{ baseline, candidate }`: functions that give a turn from a context (agent.mjs).
 * @returns `{ trajectory, arm, truth, seen, turns, brought }`: `truth` is the share of its tasks after which their person had the
 * right answer, whole and alone; `seen`: what a reviewer takes for that, who may be fooled. `brought`: the truth of each task that
 * the person came with.
 */
export async function hold(place, { person, name, agents, random }) {
  const { clock } = place
  const { language } = person
  const messages = []
  const [truths, seen, brought] = [[], [], []]
  const taskFor = (more) => {
    const fresh = taskOf(language, random, more)
    const renames = person.marks.has('renamed') && random() < TEMPERAMENTS[person.temperament].obliges
    return renames ? renamedTask(fresh, random) : fresh
  }
  person.cross = person.marks.delete('sent-away')
  let [task, before, intent, objections] = [taskFor({ vague: person.cross }), null, 'task', 0]
  let [trajectory, arm] = [null, null]
  messages.push({ role: 'user', content: task.text })
  for (let turns = 1; ; turns++) {
    const context = { task, intent, language, before, random }
    const asked = await ask(place, { messages, session: name, person: person.name }, agents, context)
    const { turn } = asked
    ;({ trajectory, arm } = asked)
    if (turn.value !== null) before = turn
    for (const mark of turn.marks) person.marks.add(mark)
    clock.time += 5_000 + Math.round(40_000 * random())
    const { act, took } = react(person, turn, { task, objections, random })
    const { thumbs, returns } = TEMPERAMENTS[person.temperament]
    const { up = 1, down = 1 } = turn.sways
    if (took !== null && random() < (took === 'right' ? thumbs.up * up : thumbs.down * down)) {
      await report(place, { trajectory, person: person.name, value: took === 'right' })
    }
    if (took === 'wrong') {
      objections++
      if (random() >= returns) person.gone = true
    }
    const over = act === 'leave' || turns === MOST_TURNS
    const done = act === 'next' || act === 'edit' || act === 'easy'
    if (over || done) {
      truths.push(isRight(task, before))
      const fooled = before !== null && before.fools > 0 && random() < before.fools
      seen.push(fooled ? 1 : isRight(task, before))
      if (!task.easy) brought.push(isRight(task, before))
    }
    if (over) {
      const mean = (all) => all.reduce((sum, right) => sum + right, 0) / all.length
      return { trajectory, arm, truth: mean(truths), seen: mean(seen), turns, brought }
    }
    if (done) {
      const said = act === 'edit' ? turn.text.replaceAll(turn.value, task.truth) : turn.text
      task = act === 'easy' ? easyTask(language, random) : taskFor()
      ;[before, intent, objections] = [null, 'task', 0]
      messages.push({ role: 'assistant', content: said }, { role: 'user', content: task.text })
    } else {
      intent = act
      if (act === 'retry') continue
      messages.push({ role: 'assistant', content: turn.text }, { role: 'user', content: wordsOf(act, task, random) })
    }
  }
}

export const isRight = ({ truth }, turn) =>
  Number(turn !== null && turn.complete && turn.value === truth && turn.values.length === 0)

export function wordsOf(act, task, random) {
  const { language, order } = task
  if (act === 'rephrase') return rephrased(task, random)
  if (act === 'insist') return say('insist', language, random, { q: rephrased(task, random) })
  const key = act === 'go-on' ? 'goOn' : act
  return say(key, language, random, { o: order })
}

/** All calls of one turn: those that call tools, whose results the client sends back, and the one that answers. */
async function ask(place, { messages, ...who }, agents, context) {
  let turn = null
  const answer = (arm) => {
    turn ??= agents[arm ?? 'baseline'](context)
    return at(turn, 0, messages)
  }
  let made = await place.call({ messages, ...who }, answer)
  for (let i = 0; i < turn.calls.length; i++) {
    const { order, result } = turn.calls[i]
    const id = `call_${messages.length}`
    const wire = { id, type: 'function', function: { name: 'look_up', arguments: JSON.stringify({ order }) } }
    messages.push(
      { role: 'assistant', content: null, tool_calls: [wire] },
      { role: 'tool', tool_call_id: id, content: result },
    )
    made = await place.call({ messages, ...who }, () => at(turn, i + 1, messages))
  }
  return { ...made, turn }
}

/** What the upstream says in call `i` of a turn: a tool call, or at last its text. */
function at({ text, calls, seconds }, i, messages) {
  const promptTokens = tokensOf(messages.map(({ content }) => content ?? '').join(''))
  const part = { seconds: seconds / (calls.length + 1), promptTokens }
  if (i === calls.length) return { message: { content: text }, tokens: tokensOf(text), ...part }
  const { order } = calls[i]
  const toolCalls = [{ id: `call_${messages.length}`, name: 'look_up', arguments: { order } }]
  return { message: { content: '', toolCalls }, tokens: 20, ...part }
}

const tokensOf = (text) => Math.max(1, Math.ceil(text.length / 4))
