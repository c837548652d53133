export { pseudonymOf, redactName } from './pseudonym.ts'
export { redactObject } from './redact-json.ts'
export { redactMessage, redactTools } from './redact-message.ts'
export { type Redacted, type Redaction, redactionOf } from './redaction.ts'
