import {
  type ItemStatus,
  type Logprob,
  type OutputItem,
  outputText,
  type OutputText,
  type Refusal,
} from './response-object.ts'

/** An item of a response that grows while the answer comes; `index` is its place in the response's output. */
abstract class Draft {
  readonly id: string
  readonly index: number
  status: ItemStatus = 'in_progress'

  constructor(id: string, index: number) {
    this.id = id
    this.index = index
  }

  /** As it is told: without content as long as that comes piece by piece. */
  abstract item(): OutputItem
}

export class ReasoningDraft extends Draft {
  text = ''

  part() {
    return { type: 'reasoning_text' as const, text: this.text }
  }

  item(): OutputItem {
    const { id, status } = this
    return { type: 'reasoning', id, summary: [], content: status === 'in_progress' ? [] : [this.part()], status }
  }
}

/** What is said, and what is declined, are parts of one message. */
export class PartDraft {
  readonly kind: 'text' | 'refusal'
  readonly index: number
  readonly logprobs: Logprob[] = []
  text = ''

  constructor(kind: 'text' | 'refusal', index: number) {
    this.kind = kind
    this.index = index
  }

  part(): OutputText | Refusal {
    return this.kind === 'text' ? outputText(this.text, this.logprobs) : { type: 'refusal', refusal: this.text }
  }
}

export class MessageDraft extends Draft {
  readonly parts: PartDraft[] = []

  item(): OutputItem {
    const { id, status } = this
    const content = status === 'in_progress' ? [] : this.parts.map((part) => part.part())
    return { type: 'message', id, role: 'assistant', content, status }
  }
}

export class CallDraft extends Draft {
  readonly callId: string
  readonly name: string
  arguments = ''

  constructor(id: string, index: number, callId: string, name: string) {
    super(id, index)
    this.callId = callId
    this.name = name
  }

  item(): OutputItem {
    const { id, callId, name, status } = this
    const text = status === 'in_progress' ? '' : this.arguments
    return { type: 'function_call', id, call_id: callId, name, arguments: text, status }
  }
}

export type ItemDraft = ReasoningDraft | MessageDraft | CallDraft
