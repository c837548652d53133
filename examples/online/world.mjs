// The world of the example: questions about browsers from @mdn/browser-compat-data, who asks them, and what would have
// been right to do. Questions that people ask the gateway come from the split `train`, those of the measurements from
// `holdout`: no document is in both.
import { rng } from 'ratchet/core'
import { loadMdn, mdn } from 'ratchet/environment/search'
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
  })
  const singleHop = (split) => tasks[split].filter(({ tier }) => tier === 'single-hop')
  const composed = (split) => tasks[split].filter(({ tier }) => tier !== 'single-hop')
  return {
    asked: rng('asked', seed).shuffle(singleHop('train')),
    /** Simple questions as well, for who asks for something else. */
    others: rng('others', seed).shuffle(singleHop('train')),
    heldOut: singleHop('holdout'),
    /** Questions that take more than one document, which nobody showed the agent how to answer. */
    hard: rng('hard', seed).shuffle(composed('train')),
    hardHeldOut: composed('holdout'),
    open: (task) => environment.open(task, 0),
    /** Tools that look things up for one conversation. */
    toolsFor: (task, version = 1) => toolsOver(environment.open(task, 0), version),
  }
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
