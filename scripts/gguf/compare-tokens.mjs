/**
 * Whether the tokenizer that a GGUF file describes gives the ids that llama.cpp gives, on texts in many scripts.
 *
 *   (mkdir -p /tmp/llc && cd /tmp/llc && npm i --omit=optional node-llama-cpp @node-llama-cpp/linux-x64)
 *   npx tsc -b && node scripts/gguf/compare-tokens.mjs FILE /tmp/llc
 */
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { withGgufFile } from '../../dist/model/embedded/load/gguf/file.js'
import { tokenizerJson } from '../../dist/model/embedded/load/gguf/tokenizer-json.js'
import { readVocabulary } from '../../dist/model/embedded/load/gguf/vocabulary.js'
import { readTokenizer } from '../../dist/model/embedded/load/tokenizer.js'
import { texts } from './texts.mjs'

const [file, folder] = process.argv.slice(2)
if (!file || !folder) throw new Error('Usage: node scripts/gguf/compare-tokens.mjs FILE FOLDER')
const entry = createRequire(resolve(folder, 'x.js')).resolve('node-llama-cpp')
const { getLlama } = await import(pathToFileURL(entry).href)
const llama = await getLlama({ gpu: false, build: 'never', logLevel: 'error' })
const reference = await llama.loadModel({ modelPath: resolve(file), vocabOnly: true })
const tokenizer = await withGgufFile(file, async ({ metadata }) =>
  readTokenizer(tokenizerJson(readVocabulary(metadata))),
)

const other = texts.filter(
  (text) => tokenizer.encodeWithSpecials(text).join() !== [...reference.tokenize(text, false)].join(),
)
const lost = texts.filter((text) => tokenizer.decode(tokenizer.encode(text)) !== text)
for (const text of other.slice(0, 5)) console.log('other ids:', JSON.stringify(text))
console.log(JSON.stringify({ texts: texts.length, otherIds: other.length, notDecodedBack: lost.length }))
process.exit(0)
