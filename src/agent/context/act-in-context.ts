import type { Episode, Message } from '../../core/index.ts'
import type { WeightsBinding } from '../binding.ts'
import type { Meter } from '../meter.ts'
import { type ActOutcome, toolLoop } from '../tool-loop.ts'
import { type BuiltIn, withBuiltIns } from './built-in.ts'
import type { Context } from './context.ts'
import { ManagedConversation } from './managed-conversation.ts'
import { readBack } from './read-back.ts'
import { offerOf } from './tool-offer.ts'

/** Who acts, in what. */
export interface ActsInContext {
  readonly parameter: string
  readonly binding: WeightsBinding
  readonly meter: Meter
  readonly episode: Episode
}

/**
 * The tool loop in a context that is kept within a budget, with the tools that fit what is asked.
 * @throws AgentError where the episode has a tool of the name of one that is served here.
 */
export async function actInContext(
  { parameter, binding, meter, episode }: ActsInContext,
  messages: readonly Message[],
  from: readonly (string | Message)[],
  context: Context,
): Promise<ActOutcome> {
  const { offered, find } = context.tools
    ? await offerOf(episode.tools, messages, context.tools, context.embedder)
    : { offered: episode.tools, find: null }
  const back: BuiltIn | null = context.readBack
    ? readBack(
        () => conversation.results,
        (result) => conversation.partOf(result),
      )
    : null
  const builtIns = [back, find].filter((one) => one !== null)
  const ours = builtIns.map(({ definition }) => definition)
  const served = withBuiltIns(episode, builtIns)
  const conversation = new ManagedConversation(
    { parameter, binding, messages, offered: [...offered, ...ours], callable: [...episode.tools, ...ours] },
    context,
  )
  conversation.from(from)
  return toolLoop(conversation, meter, served)
}
