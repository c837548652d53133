import { canonicalJson, type Trajectory } from '../core/index.ts'

/** Looks for a known way of gaming a reward. Its veto floors the episode, which stays in its group's baseline. */
export interface Guard {
  readonly name: string
  /** Everything that decides its verdict, for the rubric's hash. */
  readonly identity: string
  /** @returns why the episode is vetoed, one sentence, or `null`. */
  inspect(trajectory: Trajectory): string | null
}

const assistants = ({ nodes }: Trajectory) =>
  nodes.flatMap(({ message }) => (message.role === 'assistant' ? [message] : []))

/** Vetoes an episode with calls that could not be read: breaking a call must never pay, whatever else was earned. */
export function brokenCalls({ allow = 0 }: { readonly allow?: number } = {}): Guard {
  return {
    name: 'broken-calls',
    identity: `broken-calls:${allow}`,
    inspect(trajectory) {
      const broken = assistants(trajectory).flatMap((message) => message.malformedCalls ?? [])
      return broken.length > allow ? `${broken.length} calls could not be read, the first: ${broken[0]?.problem}` : null
    },
  }
}

/**
 * Vetoes an episode that ended without an answer.
 * @param tool the tool whose call is the answer; without it, closing with a message is one.
 */
export function noAnswer({ tool }: { readonly tool?: string } = {}): Guard {
  return {
    name: 'no-answer',
    identity: `no-answer:${tool ?? ''}`,
    inspect(trajectory) {
      const last = assistants(trajectory).at(-1)
      if (!last) return 'the policy never spoke'
      const answered =
        tool === undefined ? last.content.trim() !== '' : last.toolCalls?.some((call) => call.name === tool)
      return answered ? null : `the episode ended (${trajectory.stopReason}) without an answer`
    },
  }
}

/** Vetoes an episode that makes the very same call `times` times or more. */
export function repetition({ times = 3 }: { readonly times?: number } = {}): Guard {
  return {
    name: 'repetition',
    identity: `repetition:${times}`,
    inspect(trajectory) {
      const seen = new Map<string, number>()
      for (const call of assistants(trajectory).flatMap((message) => message.toolCalls ?? [])) {
        const key = `${call.name} ${canonicalJson(call.arguments)}`
        const count = (seen.get(key) ?? 0) + 1
        seen.set(key, count)
        if (count >= times) return `the call "${call.name}" was made ${count} times with the same arguments`
      }
      return null
    },
  }
}
