import { PbfWriter } from 'pbf'
import type { PassResult, SampleResult } from '../journal/events.ts'

/*
 * Results of passes and samples as the official Python SDK wants them: messages of `tinker_public.proto`, with the field
 * numbers of its version 0.38.0.
 */

export const protobufType = 'application/x-protobuf'
const float32 = 1

/** `SampleResponse`. A prompt's first token follows nothing: its log-probability is NaN. */
export function writeSample({ sequences, promptLogprobs }: SampleResult): Uint8Array {
  const pbf = new PbfWriter()
  for (const sequence of sequences) pbf.writeMessage(1, writeSequence, sequence)
  if (promptLogprobs !== null) {
    pbf.writeBytesField(2, bytesOf(Float32Array.from(promptLogprobs, (logprob) => logprob ?? Number.NaN)))
  }
  return pbf.finish()
}

function writeSequence({ tokens, logprobs, stopReason }: SampleResult['sequences'][number], pbf: PbfWriter): void {
  pbf.writeVarintField(1, stopReason === 'stop' ? 0 : 1)
  pbf.writeBytesField(2, bytesOf(Int32Array.from(tokens)))
  pbf.writeBytesField(3, bytesOf(Float32Array.from(logprobs)))
}

/** `ForwardBackwardOutput` with one record, which holds the arrays of all data behind one another. */
export function writePass({ logprobs, losses, metrics }: PassResult): Uint8Array {
  const pbf = new PbfWriter()
  pbf.writeStringField(1, 'ArrayRecord')
  pbf.writeMessage(2, writeRecord, { logprobs, losses })
  for (const entry of Object.entries(metrics)) pbf.writeMessage(3, writeMetric, entry)
  return pbf.finish()
}

function writeRecord({ logprobs, losses }: Pick<PassResult, 'logprobs' | 'losses'>, pbf: PbfWriter): void {
  pbf.writeStringField(1, 'ArrayRecord')
  pbf.writeMessage(2, writeField, { name: 'logprobs', arrays: logprobs })
  if (losses !== null) pbf.writeMessage(2, writeField, { name: 'elementwise_loss', arrays: losses })
  pbf.writeVarintField(3, logprobs.length)
}

interface NamedArrays {
  readonly name: string
  readonly arrays: readonly (readonly number[])[]
}

function writeField({ name, arrays }: NamedArrays, pbf: PbfWriter): void {
  pbf.writeStringField(1, name)
  pbf.writeMessage(2, writeBatched, arrays)
}

function writeBatched(arrays: NamedArrays['arrays'], pbf: PbfWriter): void {
  const offsets = [0]
  for (const { length } of arrays) offsets.push((offsets.at(-1) ?? 0) + length * Float32Array.BYTES_PER_ELEMENT)
  pbf.writeBytesField(1, bytesOf(Float32Array.from(arrays.flat())))
  pbf.writeBytesField(2, bytesOf(BigInt64Array.from(offsets, BigInt)))
  pbf.writeVarintField(3, float32)
}

function writeMetric([key, value]: [string, number], pbf: PbfWriter): void {
  pbf.writeStringField(1, key)
  pbf.writeDoubleField(2, value)
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array | Int32Array | BigInt64Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)
