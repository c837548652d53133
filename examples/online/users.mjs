// Scripted users. They know what is true, and never say a score: they use an answer, correct it, ask again, or leave.
import OpenAI from 'openai'
import { answer } from './agent.mjs'
import { demonstrationOf } from './world.mjs'

/** What users do with an answer that is right, and with one that is not; shares of 1. */
const manners = {
  right: [
    [0.7, 'accept'],
    [0.3, 'leave'],
  ],
  wrong: [
    [0.25, 'edit'],
    [0.25, 'rephrase'],
    [0.15, 'retry'],
    [0.35, 'leave'],
  ],
}

/**
 * One session: a question, the agent's answer, and what its user does with it. Whoever asks again does so once.
 * @param place `{ base, key, agent, model }`: the gateway, and what it knows the agent by.
 * @param toolsFor gives the tools of one conversation.
 * @param user who asks, as the application knows its people.
 * @param random a function that gives numbers in [0, 1), this user's own.
 * @returns `{ right, acts }`: whether the first answer was right, and what the user did.
 */
export async function converse({ place, toolsFor, task, session, user, random }) {
  const client = clientOf(place, session, user)
  const ask = (messages) => answer({ client, model: place.model, messages, tools: toolsFor(task) })
  const report = (id, name, value) => signal(place, { response: id, name, value, reporter: user })

  const messages = [{ role: 'user', content: task.instruction }]
  const first = await ask(messages)
  const right = isRight(first.text, task)
  const acts = []
  for (let said = first, again = false; ; again = true) {
    const act = actOf(isRight(said.text, task), random)
    acts.push(act)
    if (act === 'accept') await report(said.ids.at(-1), 'used', true)
    if (act === 'edit' && said.text !== null) await report(said.ids.at(-1), 'corrected', edited(task))
    if (again || (act !== 'rephrase' && act !== 'retry')) return { right, acts }
    said =
      act === 'retry'
        ? await ask(messages.slice(0, 1))
        : await ask([...messages, { role: 'user', content: rephrased(task) }])
  }
}

/** Whether the answer holds what is true, in words or without. */
export function isRight(text, task) {
  const said = text?.trim().toLowerCase().replace(/[.!]$/, '') ?? null
  return said !== null && task.data.accepted.some((accepted) => accepted.toLowerCase() === said)
}

const edited = ({ data }) => ({ kind: 'edit', text: data.accepted[0] })

const rephrased = ({ instruction }) => `I mean: ${instruction[0].toLowerCase()}${instruction.slice(1)}`

function actOf(right, random) {
  let left = random()
  const acts = manners[right ? 'right' : 'wrong']
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

/**
 * One session of the first day: somebody asks, sees what comes, and shows what should have been looked up and said from
 * there on.
 */
export async function show({ place, toolsFor, task, session, user }) {
  const client = clientOf(place, session, user)
  const { ids } = await answer({
    client,
    model: place.model,
    messages: [{ role: 'user', content: task.instruction }],
    tools: toolsFor(task),
  })
  const value = { kind: 'demonstration', messages: demonstrationOf(task, toolsFor(task)) }
  await signal(place, { response: ids[0], name: 'shown', value, reporter: user })
  return { right: false, acts: ['show'] }
}

const clientOf = ({ base, key, agent }, session, user) =>
  new OpenAI({
    baseURL: `${base}/s/${session}/v1`,
    apiKey: key,
    maxRetries: 4,
    defaultHeaders: { 'ratchet-agent': agent, 'ratchet-subject': user },
  })
