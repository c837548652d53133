// Scripted users. They know what is true, and never say a score: they use an answer, correct it, ask again, or leave. The
// company learns afterwards whether the first answer was right, and says so: what audits rest on.
import OpenAI from 'openai'
import { mdn } from 'ratchet-agents/environment/search'
import { answer } from './agent.mjs'
import { demonstrationOf } from './world.mjs'

/** What users do with an answer that is right, and with one that is not; shares of 1. */
const manners = {
  right: [
    [0.7, 'accept'],
    [0.3, 'leave'],
  ],
  wrong: [
    [0.35, 'edit'],
    [0.2, 'rephrase'],
    [0.15, 'retry'],
    [0.3, 'leave'],
  ],
  /** No answer at all: some give up, some ask for something else. */
  none: [
    [0.2, 'leave'],
    [0.8, 'move on'],
  ],
  /** Somebody who is asked something answers. */
  question: [[1, 'reply']],
}

/**
 * One session: a question, the agent's answer, and what its user does with it. Whoever asks again does so once.
 * @param place `{ base, key, agent, model }`: the gateway, and what it knows the agent by.
 * @param toolsFor gives the tools of one conversation.
 * @param other what they ask for instead where no answer comes.
 * @param user who asks, as the application knows its people.
 * @param random a function that gives numbers in [0, 1), this user's own.
 * @returns `{ right, acts }`: whether the first answer was right, and what the user did.
 */
export async function converse({ place, toolsFor, task, other, session, user, random }) {
  const client = clientOf(place, session, user)
  const ask = (messages) => answer({ client, model: place.model, messages, tools: toolsFor(task) })
  const report = (id, name, value) => signal(place, { response: id, name, value, reporter: user })

  const messages = [{ role: 'user', content: task.instruction }]
  const first = await ask(messages)
  const right = isRight(first.text, task)
  const acts = []
  let about = task
  for (let said = first, again = false; ; again = true) {
    const act = actOf(kindOf(said.text, about), random)
    acts.push(act)
    if (act === 'accept') await report(said.ids.at(-1), 'used', true)
    if (act === 'edit') await report(said.ids.at(-1), 'corrected', edited(about))
    if (again || !(act in asksAgain)) {
      await resolved(place, first.ids[0], right)
      return { right, acts }
    }
    said = await ask(asksAgain[act](messages, task, other))
    if (act === 'move on') about = other
  }
}

/** What the company knows of a session when it is over; no person's opinion, and no part of the reward. */
const resolved = (place, id, right) =>
  signal(place, { response: id, name: 'resolved', source: 'outcome', value: right, reporter: 'back-office' })

/** What the conversation is then, by how somebody asks again. */
const asksAgain = {
  rephrase: (messages, task) => [...messages, { role: 'user', content: rephrased(task) }],
  retry: (messages) => messages.slice(0, 1),
  reply: (messages) => [...messages, { role: 'user', content: 'The stable one.' }],
  'move on': (messages, _, other) => [...messages, { role: 'user', content: other.instruction }],
}

/** What a user sees: an answer that is right or wrong, a question, or none: what names neither a browser nor a version. */
function kindOf(text, task) {
  if (text === null) return 'none'
  if (isRight(text, task)) return 'right'
  if (text.trim().endsWith('?')) return 'question'
  return /\d|never/.test(text) || mdn.browsers.some((browser) => text.includes(browser)) ? 'wrong' : 'none'
}

/** Whether the answer holds what is true, in words or without. */
export function isRight(text, task) {
  const said = text?.trim().toLowerCase().replace(/[.!]$/, '') ?? null
  return said !== null && task.data.accepted.some((accepted) => accepted.toLowerCase() === said)
}

const edited = ({ data }) => ({ kind: 'edit', text: data.accepted[0] })

const rephrased = ({ instruction }) => `I mean: ${instruction[0].toLowerCase()}${instruction.slice(1)}`

function actOf(kind, random) {
  let left = random()
  const acts = manners[kind]
  for (const [share, act] of acts) {
    left -= share
    if (left < 0) return act
  }
  return acts.at(-1)[1]
}

async function signal({ base, key }, body) {
  const response = await fetch(`${base}/ratchet/signals`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`a signal was refused: ${await response.text()}`)
}

/** One session of the first day: somebody asks, sees what comes, and shows what would have been right from there on. */
export const show = (options) => sendDemonstration({ ...options, show: demonstrationOf })

/** A session in which somebody asks once, and shows what should have been done, as they have it. */
export async function sendDemonstration({ place, toolsFor, task, session, user, show }) {
  const client = clientOf(place, session, user)
  const { ids } = await answer({
    client,
    model: place.model,
    messages: [{ role: 'user', content: task.instruction }],
    tools: toolsFor(task),
  })
  const value = { kind: 'demonstration', messages: show(task, toolsFor(task)) }
  await signal(place, { response: ids[0], name: 'shown', value, reporter: user })
  await resolved(place, ids[0], false)
  return { right: false, acts: ['show'] }
}

const clientOf = ({ base, key, agent }, session, user) =>
  new OpenAI({
    baseURL: `${base}/s/${session}/v1`,
    apiKey: key,
    maxRetries: 4,
    defaultHeaders: { 'ratchet-agent': agent, 'ratchet-subject': user },
  })
