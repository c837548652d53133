export { behaviourName, type Factors, implicit, implicitPays, ImplicitReading } from './implicit-part.ts'
export { perToolCall } from './per-tool-call.ts'
export { outcome, saysNothing, signal, SignalReading } from './signal-part.ts'
export { verifiedBy, verifier } from './verifier.ts'
