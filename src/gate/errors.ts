import { InputError, RatchetError } from '../errors/index.ts'

/** A gate was configured, or given evidence, in a way that cannot be decided from. */
export class GateError extends InputError {}

/** A holdout was used so often that nothing of its alpha is left. */
export class HoldoutExhaustedError extends RatchetError {}

/** A receipt is not what the gate wrote, or does not lead to the decision that it states. */
export class ReceiptError extends RatchetError {}
