import { RatchetError } from '../../errors/index.ts'

/** An error that says with which status it is answered: refusals of this server, and of whoever keeps its door. */
const statusOf = (error: RatchetError): number | null =>
  'status' in error && typeof error.status === 'number' ? error.status : null

const fieldOf = (error: RatchetError): string | null =>
  'field' in error && typeof error.field === 'string' ? error.field : null

/** Any failure as a client is told of it: the SDK shows `detail`. What is nobody's business is left to the log. */
export function problemResponse(error: unknown, onUnexpected: (error: unknown) => void): Response {
  const status = RatchetError.is(error) ? statusOf(error) : null
  if (!RatchetError.is(error) || status === null) {
    onUnexpected(error)
    const detail = 'The server failed in a way that it does not expect. Its log says more.'
    return Response.json({ detail, code: 'trainer/unexpected' }, { status: 500 })
  }
  const { code, message, hint } = error
  const wait = status === 429 ? { 'retry-after': '1' } : {}
  return Response.json({ detail: `${message} ${hint}`, code, hint, field: fieldOf(error) }, { status, headers: wait })
}
