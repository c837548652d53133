import type { Renderer } from '../../core/index.ts'
import type { LoadedModel } from '../embedded/load/loaded-model.ts'
import { CompactRenderer } from './compact.ts'
import { TemplateRenderer } from './template.ts'

/** How a conversation is laid out: by the model's own chat template, or in the compact one-line form. */
export type RendererKind = 'template' | 'compact'

/**
 * The renderer of that kind for a model.
 * @throws UnusableTemplateError for `template`, when the model's template cannot be used.
 */
export function rendererFor(model: Omit<LoadedModel, 'weights'>, kind: RendererKind): Renderer {
  return kind === 'compact' ? new CompactRenderer(model.tokenizer) : new TemplateRenderer(model)
}
