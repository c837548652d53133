import { z } from 'zod'
import { UnusablePeftError } from './unusable-peft-error.ts'

/** What an `adapter_config.json` says, as far as it matters here. */
export interface PeftConfig {
  readonly rank: number
  readonly alpha: number
  /** Names of adapted modules, or ends of them; none where peft chose them by an expression, which is not evaluated. */
  readonly modules: readonly string[]
}

const Described = z.looseObject({
  peft_type: z.literal('LORA'),
  r: z.int().positive(),
  lora_alpha: z.number().positive().max(1e6),
  target_modules: z.union([z.array(z.string()), z.string()]).nullish(),
  // Others, as pissa, olora and corda, change the model's own weights: the adapter alone is not what was trained.
  init_lora_weights: z.union([z.boolean(), z.enum(['gaussian', 'orthogonal', 'eva'])]).nullish(),
  bias: z.literal('none').nullish(),
})

/** Options that say nothing of what the adapter computes once it is trained. */
const harmless = new Set([
  ...Object.keys(Described.shape),
  'auto_mapping',
  'base_model_name_or_path',
  'eva_config',
  'exclude_modules',
  'inference_mode',
  'lora_dropout',
  'megatron_core',
  'peft_version',
  'qalora_group_size',
  'revision',
  'runtime_config',
  'task_type',
])

/**
 * Reads an `adapter_config.json`.
 * @throws UnusablePeftError when it is none of a LoRA, or when an option is on that is not known to change nothing: DoRA,
 * rsLoRA, ranks by module, modules saved in full, and whatever peft adds.
 */
export function readPeftConfig(text: string): PeftConfig {
  const parsed = Described.safeParse(json(text))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const where = issue?.path.length ? `${issue.path.join('.').slice(0, 100)}: ` : ''
    throw new UnusablePeftError(
      `its adapter_config.json does not describe a plain LoRA (${where}${issue?.message.slice(0, 200)})`,
      'Train a LoRA with a rank of at least 1, bias "none" and the usual initialisation.',
    )
  }
  const { r, lora_alpha: alpha, target_modules: modules } = parsed.data
  for (const [name, value] of Object.entries(parsed.data)) {
    if (harmless.has(name) || isOff(value)) continue
    throw new UnusablePeftError(
      `its option ${JSON.stringify(name.slice(0, 100))} is on, which the engine does not compute`,
      'Train it without that option, or merge it into the model and load that.',
    )
  }
  return { rank: r, alpha, modules: Array.isArray(modules) ? modules : [] }
}

/** `null`, `false`, an empty list or object. */
function isOff(value: unknown): boolean {
  if (value === null || value === undefined || value === false) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** What a text says in JSON; `undefined` where it is none. */
export function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
