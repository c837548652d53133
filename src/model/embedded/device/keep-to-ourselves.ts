/**
 * ONNX Runtime reports its use to its makers unless it is told not to before its first session, and keeps a device id in the
 * home folder. What it reads is the process's environment, which only the main thread can set.
 */
export function keepToOurselves(): void {
  process.env['ORT_DISABLE_TELEMETRY'] ??= '1'
}
