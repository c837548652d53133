import { type FileHandle, open } from 'node:fs/promises'
import { InputError } from '../../errors/index.ts'

/** One line of a file, without its end. */
export interface Line {
  readonly line: string
  /** From 1. */
  readonly number: number
}

/** Bytes of one line: more than any trajectory has, and less than a string can hold. */
const longestLine = 256 * 1024 * 1024
const newline = 0x0a

/**
 * Opens a file that is read line by line.
 * @throws InputError when it cannot be read.
 */
export async function openLines(file: string): Promise<FileHandle> {
  try {
    const handle = await open(file, 'r')
    if (!(await handle.stat()).isDirectory()) return handle
    await handle.close()
  } catch (error) {
    throw unreadable(file, (error as Error).message, error)
  }
  throw unreadable(file, 'it is a folder')
}

/**
 * The lines of a file that hold something, and closes it. A byte order mark and the line ends of Windows are no part of
 * them.
 * @throws InputError when it cannot be read on, or a line is too long.
 */
export async function* linesOf(
  file: string,
  handle: FileHandle,
  /** Bytes of one line, at most. */
  longest = longestLine,
): AsyncGenerator<Line> {
  let number = 0
  let held: Buffer[] = []
  let size = 0
  const lineOf = (last: Buffer): Line[] => {
    number++
    const text = Buffer.concat([...held, last])
      .toString('utf8')
      .replace(/\r$/, '')
    held = []
    size = 0
    const line = number === 1 ? text.replace(/^\uFEFF/, '') : text
    return line.trim() === '' ? [] : [{ line, number }]
  }
  const pieces = handle.createReadStream({ highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>
  try {
    for await (const piece of pieces) {
      let from = 0
      for (let end = piece.indexOf(newline); end !== -1; end = piece.indexOf(newline, from)) {
        yield* lineOf(piece.subarray(from, end))
        from = end + 1
      }
      held.push(piece.subarray(from))
      size += piece.length - from
      if (size > longest) throw tooLong(file, number + 1, longest)
    }
  } catch (error) {
    if (error instanceof InputError) throw error
    throw unreadable(file, (error as Error).message, error)
  }
  yield* lineOf(Buffer.alloc(0))
}

function unreadable(file: string, why: string, cause?: unknown): InputError {
  return new InputError({
    code: 'input/unreadable-file',
    message: `The file ${file} cannot be read: ${why}.`,
    hint: 'Check the path and its permissions.',
    cause,
  })
}

function tooLong(file: string, line: number, longest: number): InputError {
  return new InputError({
    code: 'input/bad-record',
    message: `Line ${line} of ${file} is longer than ${longest / 1024 / 1024} MiB.`,
    hint: 'Write one JSON object a line; the records before it are in, and are not imported twice.',
  })
}
