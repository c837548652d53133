import type { Audit } from '../../core/index.ts'
import { GatewayError } from '../errors.ts'

/** Nothing of the agent is audited. */
export function notAudited(): GatewayError {
  return new GatewayError({
    status: 404,
    type: 'invalid_request_error',
    code: 'gateway/not-audited',
    message: 'No canary of such an agent runs or serves that is audited.',
    hint: 'Give the agent an audit: "learn": { "audit": { "share": 0.25, "by": "person" } }. Its next canary draws sessions.',
  })
}

/** There is no such draw, or it is not the caller's to judge. */
export function unknownDraw(): GatewayError {
  return new GatewayError({
    status: 404,
    type: 'invalid_request_error',
    code: 'gateway/unknown-draw',
    message: 'There is no such draw.',
    hint: 'GET /ratchet/agents/{agent}/audit/next names one.',
    param: 'draw',
  })
}

/** Something else says what is true. */
export function judgedElsewhere({ by }: Pick<Audit, 'by'>): GatewayError {
  return new GatewayError({
    status: 409,
    type: 'invalid_request_error',
    code: 'gateway/audited-elsewhere',
    message: `The audit is by ${by}: people judge nothing of it.`,
    hint: 'Say "by": "person" in the section "audit"; it holds from the next canary on.',
  })
}

/** The draw takes no label of this reviewer. */
export function closed(why: 'settled' | 'full'): GatewayError {
  return new GatewayError({
    status: 409,
    type: 'invalid_request_error',
    ...whyClosed[why],
    hint: 'Judge what GET /ratchet/agents/{agent}/audit/next names. Who judged this draw before may change their mind.',
    param: 'draw',
  })
}

const whyClosed = {
  settled: { code: 'gateway/draw-settled', message: 'Others have judged this draw, and its truth is known.' },
  full: {
    code: 'gateway/draw-full',
    message: 'This draw has as many labels as one may have, or as one key may give it.',
  },
} as const
