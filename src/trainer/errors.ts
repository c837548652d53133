import { type ErrorDetails, InputError } from '../errors/index.ts'

export interface TrainerRequestDetails extends ErrorDetails {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 410 | 413 | 415 | 429
  /** The part of the request that is wrong, as a path. */
  readonly field?: string
}

/** A request to the trainer server that is refused. It has changed nothing. */
export class TrainerRequestError extends InputError {
  readonly status: TrainerRequestDetails['status']
  readonly field: string | null

  constructor({ status, field, ...details }: TrainerRequestDetails) {
    super(details)
    this.status = status
    this.field = field ?? null
  }
}

/** A requestError with status 400, unless another is told. */
export const requestError = (
  kind: string,
  message: string,
  hint: string,
  { status = 400, ...field }: Partial<Pick<TrainerRequestDetails, 'status' | 'field'>> = {},
): TrainerRequestError => new TrainerRequestError({ status, code: `trainer/${kind}`, message, hint, ...field })

/** What there is not, or is another key's: the two are told alike. */
export const absent = (what: string, name: string, field: string): TrainerRequestError =>
  requestError('not-found', `There is no ${what} ${JSON.stringify(name.slice(0, 300))} for this key.`, hintOf(what), {
    status: 404,
    field,
  })

/** Of a sampling session's number that another has. */
export const samplerNumberReused = (id: string): TrainerRequestError =>
  requestError(
    'number-reused',
    `There is another sampling session ${id}.`,
    'Number the sampling sessions of a session, each once, and repeat a request as it was.',
    { status: 409, field: 'sampling_session_seq_id' },
  )

const hintOf = (what: string): string =>
  what === 'checkpoint'
    ? 'Give the path that save_weights or save_weights_for_sampler answered to this key, if it was not deleted since.'
    : `Give the id of a ${what} that this key made, and whose session has not ended.`
