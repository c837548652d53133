export { pseudonymDigits, pseudonymOf, redactId, redactName, redactSession, sessionPseudonym } from './pseudonym.ts'
export { redactObject } from './redact-json.ts'
export { redactMessage, redactTools } from './redact-message.ts'
export { type Redacted, type Redaction, redactionOf } from './redaction.ts'
