import pc from 'picocolors'
import { visible } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import { type LoadedModel, loadModel } from '../../model/embedded/index.ts'
import { exportPeft, type PeftExport, peftExportBound } from '../../model/openai/index.ts'
import {
  type AdapterFlags,
  recordedSequences,
  type ReleasedAdapter,
  releasedAdapter,
} from '../transfer/released-adapter.ts'
import { withStore } from '../with-store.ts'

interface AdapterExportFlags extends AdapterFlags {
  /** Where the base model is. Default: where it was when the adapter was learned. */
  readonly model?: string
  /** What the export calls the base model. */
  readonly baseName?: string
}

/** `ratchet adapter export FOLDER`: the adapter of a release for `peft` and vLLM, compared before it is called done. */
export function adapterExportCommand(folder: string, flags: AdapterExportFlags): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    const found = await releasedAdapter(store, flags)
    const model = await baseOf(found, flags)
    const recorded = await recordedSequences(store, found.version, model.weights.config.vocabSize)
    const told = await exportPeft({
      model,
      adapter: await store.blobs.get(found.adapter),
      folder,
      base: flags.baseName ?? found.base,
      sequences: recorded,
    })
    const { release, version } = found
    const { id, agent } = release
    const texts = recorded.length > 0 ? ('recorded' as const) : ('generated' as const)
    const row = { agent, release: id, parameter: version.parameter, ...told, bound: peftExportBound, texts }
    process.stdout.write(flags.json ? `${JSON.stringify(row)}\n` : `${linesOf(row).join('\n')}\n`)
  })
}

/** @throws InputError where the base is not there any more, or is another one. */
async function baseOf({ base, baseHash }: ReleasedAdapter, flags: AdapterExportFlags): Promise<LoadedModel> {
  const model = await loadModel(flags.model ?? base)
  if (model.hash === baseHash) return model
  throw new InputError({
    code: 'input/other-base',
    message: `The adapter was learned over ${visible(base)} with content ${baseHash.slice(0, 12)}; ${visible(flags.model ?? base)} has content ${model.hash.slice(0, 12)}.`,
    hint: 'Name the model that it was learned over with --model.',
  })
}

interface Row extends PeftExport {
  readonly agent: string
  readonly release: string
  readonly parameter: string
  readonly bound: number
  readonly texts: 'recorded' | 'generated'
}

function linesOf(row: Row): readonly string[] {
  const { agent, release, parameter, folder, kind, base, sequences, compared, difference, effect, bound, texts } = row
  const what = kind === 'lora' ? 'adapter' : 'soft prompt'
  const where = `${compared} tokens of ${sequences} ${texts} ${texts === 'recorded' ? 'episodes' : 'texts'}`
  return [
    `${pc.green('✓')} The ${what} "${parameter}" of ${visible(agent)}, release ${release}, is in ${folder}.`,
    `  Read back, its log-probabilities of ${where} differ by at most ${difference} nats; ${bound} is allowed. From the base model's they differ by up to ${effect.toPrecision(3)}.`,
    ...(effect > bound ? [] : [`  ${pc.yellow('It changes nothing there, so the comparison says little.')}`]),
    `  ${pc.dim(`Its base model is called ${visible(base)} there. --base-name calls it as your server does.`)}`,
  ]
}
