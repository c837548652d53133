// The agent's tools: which version of a browser supports what. Version 2 is what their owner made of them one day: the
// same facts in another form.

const parameter = (name) => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
  required: [name],
  additionalProperties: false,
})
const definitions = [
  ['search', 'Lists the documents that match best.', parameter('query')],
  ['open', 'Shows a document that a search has listed.', parameter('title')],
].map(([name, description, parameters]) => ({ type: 'function', function: { name, description, parameters } }))

/** The same tools as Ratchet's own messages have them. */
export const searchTools = definitions.map(({ function: definition }) => definition)

/**
 * @param episode of the search environment: an index over documents.
 * @param version 1 or 2.
 */
export function toolsOver(episode, version = 1) {
  const inForm = forms[version]
  return {
    definitions,
    run(name, values) {
      if (!(name in inForm)) return `error: there is no tool ${name}`
      const [{ content, isError }] = episode.step({ kind: 'calls', calls: [{ name, arguments: values }] }).messages
      return isError ? `error: ${content}` : inForm[name](content)
    },
  }
}

const forms = {
  1: { search: (hits) => hits, open: (lines) => lines },
  2: {
    search: (hits) => hits.split('\n').toReversed().join(' | '),
    open: (lines) => lines.replaceAll(/^(\S+) (.*)$/gm, '$2 $1'),
  },
}
