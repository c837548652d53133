/** Tells how a download goes: how much has come, how fast, and how long it will still take. */
export interface PullProgress {
  tell(progress: { readonly file: string; readonly done: number; readonly total: number | null }): void
  end(): void
}

/** The rate is that of so many last seconds. */
const windowSeconds = 5
const terminalMs = 100
const otherwiseMs = 5_000

/**
 * On a terminal one line that moves; elsewhere a line now and then.
 * @param now milliseconds, monotonic.
 */
export function pullProgress(
  out: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number },
  now: () => number = () => performance.now(),
): PullProgress {
  const moves = out.isTTY === true
  let file = ''
  let told = Number.NEGATIVE_INFINITY
  let samples: { readonly at: number; readonly done: number }[] = []
  return {
    tell(progress) {
      const at = now()
      if (progress.file !== file) samples = []
      file = progress.file
      samples.push({ at, done: progress.done })
      while (samples.length > 2 && at - (samples[0]?.at ?? at) > windowSeconds * 1_000) samples.shift()
      if (at - told < (moves ? terminalMs : otherwiseMs)) return
      told = at
      const line = progressLine(progress, rateOf(samples))
      out.write(moves ? `\r\u001b[2K${line.slice(0, (out.columns ?? 80) - 1)}` : `${line}\n`)
    },
    end() {
      if (moves) out.write('\r\u001b[2K')
    },
  }
}

/** Bytes a second; null as long as it cannot be told. */
function rateOf(samples: readonly { readonly at: number; readonly done: number }[]): number | null {
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined || last.at - first.at < 500) return null
  return ((last.done - first.done) / (last.at - first.at)) * 1_000
}

/** For example `model.safetensors  120 of 270 MB, 12 MB/s, 13 s left`. */
export function progressLine(
  { file, done, total }: { readonly file: string; readonly done: number; readonly total: number | null },
  rate: number | null,
): string {
  const of = total === null ? '' : ` of ${megabytes(total)}`
  const speed = rate === null || rate <= 0 ? '' : `, ${megabytes(rate)} MB/s`
  const left = total === null || rate === null || rate <= 0 ? '' : `, ${time((total - done) / rate)} left`
  return `${file}  ${megabytes(done)}${of} MB${speed}${left}`
}

const megabytes = (bytes: number): string => (bytes < 10e6 ? (bytes / 1e6).toFixed(1) : String(Math.round(bytes / 1e6)))

function time(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 90) return `${whole} s`
  return whole < 5_400 ? `${Math.round(whole / 60)} min` : `${(whole / 3_600).toFixed(1)} h`
}
