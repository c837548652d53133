// The world of the example: questions about browsers from @mdn/browser-compat-data, who asks them, and what would have
// been right to do. Questions that people ask the gateway come from the split `train`, those of the measurements from
// `holdout`: no document is in both.
import { createRequire } from 'node:module'
import { rng } from 'ratchet-agents/core'
import { loadMdn, mdn } from 'ratchet-agents/environment/search'
import { toolsOver } from './tools.mjs'

/** Titles that a small model can copy. */
const longestTitle = 12

/**
 * @param countTokens `embedded.countTokens`: titles are measured in the model's own tokens.
 * @returns `{ asked, others, heldOut, hard, hardHeldOut, toolsFor(task, version) }`.
 */
export function openWorld(seed, countTokens) {
  const { environment, tasks } = loadMdn({
    seed,
    maxTitleLength: longestTitle,
    titleLength: (title) => countTokens(` ${title}`),
    tasks: { train: 3500, validation: 3, holdout: 400 },
    wordings: 'few',
  })
  const singleHop = (split) => tasks[split].filter(({ tier }) => tier === 'single-hop')
  return {
    asked: rng('asked', seed).shuffle(singleHop('train')),
    /** Simple questions as well, for who asks for something else. */
    others: rng('others', seed).shuffle(singleHop('train')),
    heldOut: singleHop('holdout'),
    /** Questions that read like all others and that no document answers: the agent answers something, and it is wrong. */
    hard: rng('hard', seed).shuffle(singleHop('train')).flatMap(ofSamsung),
    hardHeldOut: singleHop('holdout').flatMap(ofSamsung),
    open: (task) => environment.open(task, 0),
    /** Tools that look things up for one conversation. */
    toolsFor: (task, version = 1) => toolsOver(environment.open(task, 0), version),
  }
}

const compat = createRequire(import.meta.url)('@mdn/browser-compat-data')
const pathOf = new Map(mdn.readFeatures().map(({ title, id }) => [title, id.split('.')]))

/** The same question of Samsung's browser, which the data knows and the documents do not; none where it does not either. */
function ofSamsung(task) {
  const { titles, browser } = mdn.questionOf(task)
  const { __compat: known } = pathOf.get(titles[0])?.reduce((node, name) => node?.[name], compat) ?? {}
  const added = [known?.support.samsunginternet_android].flat()[0]?.version_added
  if (typeof added !== 'string') return []
  const accepted = [`samsung ${added}`, added].map((text) => text.replace(/\.0$/, ''))
  return [{ ...task, instruction: task.instruction.replace(browser, 'samsung'), data: { ...task.data, accepted } }]
}

/** What an expert would have done from the question on, in messages: two look-ups, and the answer in words. */
export function demonstrationOf(task, tools) {
  const [title] = mdn.questionOf(task).titles
  const lookUp = (name, values, id) => [
    { role: 'assistant', content: '', toolCalls: [{ id, name, arguments: values }] },
    { role: 'tool', name, toolCallId: id, content: tools.run(name, values) },
  ]
  return [
    ...lookUp('search', { query: title }, 'call-1'),
    ...lookUp('open', { title }, 'call-2'),
    { role: 'assistant', content: task.data.accepted[0] },
  ]
}
