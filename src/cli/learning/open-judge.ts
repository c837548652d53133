import type { ChatUpstream } from '../../core/index.ts'
import { InputError, InvariantError } from '../../errors/index.ts'
import { UpstreamConfig } from '../../gateway/index.ts'
import { type AuditVerifier, chatJudge, type LearnFromTrafficConfig } from '../../learn/index.ts'
import { UpstreamError } from '../../model/openai/index.ts'
import { openUpstream } from '../serve/open-upstream.ts'

/** The judge of an agent's audit. */
export interface OpenJudge {
  readonly judge?: AuditVerifier
  close(): Promise<void>
}

/**
 * The model that an agent's audit names as its judge. It is opened when it is first asked: an embedded one takes its own
 * memory.
 * @throws InputError where an audit is by a judge and names none, and for a key that is not set.
 */
export function openJudge(
  { audit }: Pick<LearnFromTrafficConfig, 'audit'>,
  env: Readonly<Record<string, string | undefined>> = process.env,
): OpenJudge {
  if (audit === false || audit.by !== 'judge') return { close: () => Promise.resolve() }
  if (!audit.judge) throw noModel()
  const { url, keyEnv, model, criterion, maxTokens } = audit.judge
  const asked = url === 'embedded' ? { model } : {}
  const config = UpstreamConfig.parse({ name: 'judge', url, ...(keyEnv && { keyEnv }), tellsTokens: 'no', ...asked })
  if (keyEnv !== undefined && !env[keyEnv]?.trim()) throw noKey(keyEnv)
  let opened: Promise<ChatUpstream> | null = null
  const open = () => (opened ??= openUpstream([config], env, noAdapters).catch(failed))
  const failed = (error: unknown): never => {
    // Tried anew with the next question.
    opened = null
    throw notOpened(error)
  }
  return {
    judge: async (session) => {
      const upstream = await open()
      return chatJudge({ upstream, model, maxTokens, ...(criterion && { criterion }) })(session)
    },
    close: async () => (await opened?.catch(() => null))?.close(),
  }
}

const noAdapters = () => Promise.reject(new InvariantError('a judge answers without adapters'))

/** Nothing of the session that it was to be asked about: who asks waits, as for one that cannot be reached. */
const notOpened = (cause: unknown) =>
  new UpstreamError({
    code: 'model/upstream-unreachable',
    kind: 'unreachable',
    upstream: 'judge',
    message: `The judge of the audit cannot be opened: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: 'Check the model and the url of the section "judge".',
    cause,
  })

const noModel = () =>
  new InputError({
    code: 'input/no-judge',
    message: 'The audit is by a judge, and names none.',
    hint: 'Add "judge": { "model": "…" } to the audit, with the "url" of an OpenAI-compatible API, or without for the embedded engine.',
  })

const noKey = (keyEnv: string) =>
  new InputError({
    code: 'input/missing-upstream-key',
    message: `The judge of the audit takes its key from ${keyEnv}, which is not set.`,
    hint: `Set ${keyEnv}.`,
  })
