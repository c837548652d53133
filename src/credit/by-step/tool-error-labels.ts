import { causedByPolicy, type StepJudge } from '../../core/index.ts'

/**
 * A rule that labels Steps without a model: one whose call could not be read, or came back as an error, is bad; every other
 * one is good in an episode that earned more than `above`, and not told in one that did not.
 * @param above what an episode must have earned for its Steps to be good. Default 0.
 */
export function toolErrorLabels({ above = 0 }: { readonly above?: number } = {}): StepJudge {
  return {
    name: 'tool-errors',
    label({ nodes, steps, stopReason }, reward) {
      if (!causedByPolicy(stopReason)) return null
      const byId = new Map(nodes.map(({ id, message }) => [id, message]))
      const good = reward.status === 'scored' && reward.value > above
      return steps.map(({ action, observations }) => {
        const said = byId.get(action)
        const malformed = said?.role === 'assistant' && (said.malformedCalls?.length ?? 0) > 0
        const failed = observations.some((id) => {
          const message = byId.get(id)
          return message?.role === 'tool' && message.isError === true
        })
        return malformed || failed ? 'bad' : good ? 'good' : null
      })
    },
  }
}
