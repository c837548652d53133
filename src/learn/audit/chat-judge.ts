import type { ChatUpstream } from '../../core/index.ts'
import { readWord, usualCriterion } from '../../reward/index.ts'
import { judgeRequest } from './judge-prompt.ts'
import type { AuditVerifier } from './verifier.ts'

/** What says what it thinks of a session. */
export interface ChatJudgeOptions {
  /** What answers: the embedded engine, or any OpenAI-compatible URL. */
  readonly upstream: Pick<ChatUpstream, 'chat'>
  /** By the name that the upstream knows it by. */
  readonly model: string
  /** A question about the session, whose answer goes from no to yes. Default: whether it did what was asked. */
  readonly criterion?: string
  /** Tokens of an answer, thoughts included. Default 1,024. */
  readonly maxTokens?: number
}

/**
 * A model as the judge of an audit. What it reads of a session is data and never instruction; what it answers is one whole
 * number from 0 to 10 alone, and anything else is `null`. Who can please it can move its words, and no promotion: these are
 * measured against labels.
 */
export function chatJudge({
  upstream,
  model,
  criterion = usualCriterion,
  maxTokens = 1_024,
}: ChatJudgeOptions): AuditVerifier {
  return async ({ trajectory, signal }) => {
    const request = judgeRequest(trajectory, { model, criterion, maxTokens })
    const reply = await upstream.chat({ request, weights: null, history: null, authorization: null, signal })
    // Streams were not asked for: one is no answer.
    if (reply.kind !== 'whole') return null
    return readWord(reply.completion.choices[0]?.message.content ?? '')
  }
}
