import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Scratch } from './scratch.ts'

/** A TypeScript block of a document. */
export interface Snippet {
  /** Where it stands, for messages: `docs/errors.md:12`. */
  readonly where: string
  readonly source: string
}

/** A snippet that was compiled. */
export interface Compiled {
  readonly where: string
  /** Path of its JavaScript in the scratch copy. */
  readonly path: string
}

const folder = 'documented'

/**
 * Checks the snippets' types against the package as it is published (its `exports`), and compiles them.
 * @throws Error with the compiler's words, in the documents' lines.
 */
export async function compile(snippets: readonly Snippet[], scratch: Scratch): Promise<readonly Compiled[]> {
  mkdirSync(join(scratch.folder, folder))
  const named = snippets.map(({ where, source }, i) => ({ where, source, name: `snippet-${i}` }))
  for (const { name, source } of named) writeFileSync(join(scratch.folder, folder, `${name}.ts`), source)
  const compilerOptions = { rootDir: '.', outDir: 'out', tsBuildInfoFile: 'out/.tsbuildinfo', declaration: false }
  const settings = { extends: '../tsconfig.json', compilerOptions, include: ['*.ts'], exclude: [] }
  writeFileSync(join(scratch.folder, folder, 'tsconfig.json'), JSON.stringify(settings))
  const { code, output } = await scratch.run(`npx tsc -p ${folder}`)
  if (code !== 0) throw new Error(inDocuments(output, named))
  return named.map(({ where, name }) => ({ where, path: `${folder}/out/${name}.js` }))
}

/** The compiler's messages with each snippet's file and line as the reader knows them. */
function inDocuments(output: string, named: readonly { readonly where: string; readonly name: string }[]): string {
  return output.replaceAll(
    /documented\/(snippet-\d+)\.ts\((\d+),(\d+)\)/g,
    (_, name: string, line: string, column: string) => {
      const [document, fence] = named.find((one) => one.name === name)?.where.split(':') ?? []
      return `${document}:${Number(fence) + Number(line)}:${column}`
    },
  )
}
