import { hasExactBytes as triedNow } from '../../src/model/embedded/device/exact-bytes.ts'

/** Whether this processor multiplies 8 bits exactly. What needs 8 bits is tested where it does. */
export const hasExactBytes: boolean = await triedNow()
