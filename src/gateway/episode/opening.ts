import {
  type Audience,
  blobKey,
  type ChatRequest,
  isUsers,
  type Message,
  type TrajectoryId,
  turns,
} from '../../core/index.ts'
import { memoryQuery } from '../../agent/index.ts'
import { InvariantError } from '../../errors/index.ts'
import { type ServedMemory, type ServedSession, type ServedAgent, shownRequest } from '../agents/index.ts'
import type { RequestContext } from '../ports.ts'
import type { Admitted } from './admission.ts'
import { readAlike } from './attach.ts'
import type { CallFacts } from './call-facts.ts'
import { callParams, promptShape } from './call-params.ts'
import { type Conversation, conversationOf, readAs } from './conversation.ts'
import type { Desk } from './desk.ts'
import { historyIn } from './history.ts'
import { freshCall, freshTrajectory, trajectoryOfSession } from './ids.ts'
import { type AskedCall, OpenCall } from './open-call.ts'
import type { Asker } from './places.ts'
import type { EpisodeRecorderOptions } from './recorder-options.ts'
import type { Recall } from './recalls.ts'
import { readBy, type Redaction, redactName, unread } from './redaction/index.ts'
import { headOf, ownerKey } from './traffic-head.ts'

/** What opening calls takes beside the desk. */
export interface OpeningOptions
  extends Required<Pick<EpisodeRecorderOptions, 'agents' | 'onFallBack' | 'onNoRecall' | 'ids'>> {
  readonly train: boolean
}

/** A call as the client sent it, in its place. */
interface SentCall {
  readonly facts: Omit<CallFacts, 'conversation' | 'candidates' | 'generation' | 'texts' | 'recalled'>
  readonly conversation: Conversation
  /** `vouched`: whoever made the key says, or knows, whom the call is about. The holder of a session's key may say anything. */
  readonly asker: Asker & { readonly vouched: boolean }
  /** Of all readings of the request. */
  readonly redaction: Redaction
  /** Whether its trajectory begins with it. */
  readonly isNew: boolean
}

/** Finds the episode that a request belongs to, and what serves it, and opens its record. */
export class Opening {
  readonly #desk: Desk
  readonly #options: OpeningOptions

  constructor(desk: Desk, options: OpeningOptions) {
    this.#desk = desk
    this.#options = options
  }

  /** @param calls those under way: it is one of them until it ends. */
  async open(
    request: ChatRequest,
    context: RequestContext,
    startedAt: number,
    { identity, repeated, end }: Admitted,
    calls: Set<OpenCall>,
  ): Promise<OpenCall> {
    const { known, places, clock } = this.#desk
    const redaction = this.#desk.redaction.together()
    const { caller, session, subject, weight = 0 } = context
    // As it is written: a key may know a person by what stands for their name.
    const about = subject === null ? null : redactName(subject, caller.tenant, redaction)
    const asker: Asker = { tenant: caller.tenant, key: caller.key, session, subject: about }
    const conversation = await conversationOf(request, redaction, weight)
    await turns.next(weight)
    const params = await readBy(redaction, weight, (by) => callParams(request, by))
    const found = repeated?.trajectory ?? (await this.#trajectoryOf(conversation, asker))
    const trajectory = found ?? freshTrajectory(this.#options.ids)
    if (found === null) known.tree(trajectory).complete = true
    const agent = this.#options.agents(caller.tenant, context.agent) ?? null
    if (agent) await places.learn(trajectory, asker)
    const tree = known.tree(trajectory)
    tree.subject ??= about
    tree.train &&= context.train && this.#options.train
    const served = agent?.assign(trajectory, tree.servedBy, { key: ownerKey(context), subject: about }) ?? null
    tree.servedBy ??= served?.servedBy ?? null
    const call = freshCall(this.#options.ids)
    const sent: SentCall = {
      facts: { trajectory, call, request, params, retryOf: repeated?.call ?? null, startedAt, weight },
      conversation,
      asker: { ...asker, vouched: caller.session === null || caller.subject !== null },
      redaction,
      isNew: found === null,
    }
    const head = { redaction, train: tree.train, servedBy: tree.servedBy, startedAt }
    const opened = new OpenCall(this.#desk, {
      asked: await this.#askedUnder(served, sent),
      otherwise: agent && served && ((cause) => this.#fallBack(agent, served, sent, cause)),
      head: headOf(trajectory, conversation, context, head),
      asker,
      redaction,
      identity: { key: identity.key, body: identity.body },
      onEnd: (given) => {
        calls.delete(opened)
        end({ trajectory, call, given, at: clock.now() })
      },
    })
    calls.add(opened)
    return opened
  }

  /** The call as the policy is asked it by what serves it. */
  async #askedUnder(
    served: ServedSession | null,
    { facts, conversation: sent, asker, redaction, isNew }: SentCall,
  ): Promise<AskedCall> {
    const { places } = this.#desk
    const { request, params, trajectory } = facts
    const recall = served?.memory ? await this.#recall(served.memory, sent.messages, facts, asker, redaction) : null
    // Beside a canary the same is done in both arms: time spent here would tell them apart.
    const alike = served !== null && served.servedBy.canary !== null
    const text = recall?.text ?? null
    const shows = served !== null && (alike || served.texts.size > 0 || text !== null)
    const shown = shows ? shownRequest(request, served.texts, text) : null
    const reads = shown !== null && (alike || shown.request !== request)
    const conversation = reads ? await readAs(sent, shown, redaction, facts.weight) : sent
    const found = isNew ? [] : await places.within(trajectory, conversation, asker)
    // From now on it has a continuation, for whoever looks for one that has none.
    const [first] = found
    if (first?.node) first.node.continued = true
    const candidates = readAlike(found, conversation)
    const shape = promptShape(request.model, conversation.tools?.key ?? null, params)
    return {
      facts: {
        ...facts,
        conversation,
        candidates,
        generation: served?.generation ?? 0,
        texts: shown?.texts ?? [],
        recalled: recall && { recall, at: shown?.recalledAt ?? null },
      },
      request: shown?.request ?? request,
      weights: served?.weights(request.model) ?? null,
      history: historyIn(conversation, candidates, shape),
      served,
    }
  }

  /** What a memory says of what the conversation begins with. Where it fails, the call goes on without. */
  async #recall(
    memory: ServedMemory,
    messages: readonly Message[],
    { trajectory, startedAt }: SentCall['facts'],
    asker: SentCall['asker'],
    redaction: Redaction,
  ): Promise<Recall | null> {
    const query = queryOf(messages)
    if (query === null) return null
    const tree = this.#desk.known.tree(trajectory)
    // What is shown to one person becomes part of a session that may be another's, and what that teaches is the other's.
    const own = asker.vouched && tree.complete && tree.subject === asker.subject
    const audience: Audience = { tenant: asker.tenant, subject: own ? asker.subject : null, at: startedAt }
    try {
      return await this.#desk.recalls.once(memory, { trajectory, query, audience }, async () => {
        const recalled = await memory.recall(query, audience)
        const { text } = recalled
        // As it is recorded: read back from there, it is the same.
        return text === null ? recalled : { ...recalled, text: await redaction.reading((by) => readable(text, by)) }
      })
    } catch (error) {
      this.#options.onNoRecall(memory.version, error)
      return null
    }
  }

  /** The call under what serves everybody else; `null` where that has the same weights. */
  async #fallBack(
    agent: ServedAgent,
    served: ServedSession,
    sent: SentCall,
    cause: unknown,
  ): Promise<AskedCall | null> {
    const { trajectory, request } = sent.facts
    const baseline = agent.baseline(trajectory, served)
    const adapterOf = (one: ServedSession) => {
      const adapter = one.weights(request.model)?.adapter ?? null
      return adapter && blobKey(adapter)
    }
    if (baseline === null || adapterOf(baseline) === adapterOf(served)) return null
    this.#options.onFallBack(agent, served, cause)
    return this.#askedUnder(baseline, sent)
  }

  /** `null` where there is none yet. */
  async #trajectoryOf(conversation: Conversation, asker: Asker): Promise<TrajectoryId | null> {
    if (asker.session !== null) return trajectoryOfSession(asker.tenant, asker.session)
    return this.#desk.places.recognise(conversation, asker)
  }
}

/** What a memory is asked: what the user said first. A text alone has a meaning to compare. */
function queryOf(messages: readonly Message[]): string | null {
  const query = memoryQuery(messages.find(isUsers)?.content ?? '')
  return query === '' ? null : query
}

/** What was recalled, without what must not be written. @throws InvariantError where that could not be found out in time. */
function readable(text: string, redaction: Redaction): string {
  const { value, changed } = redaction.redact(text)
  if (changed && value === unread) throw new InvariantError('what was recalled could not be redacted in time')
  return value
}
