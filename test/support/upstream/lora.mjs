// vLLM's run-time LoRA loading, as its documentation and its answers have it: POST /v1/load_lora_adapter and
// /v1/unload_lora_adapter. An adapter is a model of its own name from then on. Its folder is read: what is no peft folder, or
// of too high a rank, is refused.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sendJson } from './send.mjs'

const error = (message, type, code) => ({ error: { message, type, param: null, code } })

/** Answers such a request; `false` for another one. */
export function loraRequest({ settings, loads }, { path, body, method }, response) {
  const load = path === '/v1/load_lora_adapter'
  if ((!load && path !== '/v1/unload_lora_adapter') || method !== 'POST') return false
  // Without VLLM_ALLOW_RUNTIME_LORA_UPDATING there are no such routes.
  if (!settings.lora) return sendJson(response, 404, { detail: 'Not Found' }) ?? true
  const { lora_name: name, lora_path: folder } = body
  loads.push({ kind: load ? 'load' : 'unload', name, ...(load ? { path: folder } : {}) })
  const refusal = load ? loadRefusal(settings, name, folder) : unloadRefusal(settings, name)
  if (refusal) return sendJson(response, refusal.error.code, refusal) ?? true
  settings.models = load ? [...settings.models, name] : settings.models.filter((model) => model !== name)
  response.writeHead(200)
  response.end(`Success: LoRA adapter '${name}' ${load ? 'added' : 'removed'} successfully.`)
  return true
}

function loadRefusal({ models, lora }, name, folder) {
  if (!name || !folder) return error("Both 'lora_name' and 'lora_path' must be provided.", 'InvalidUserInput', 400)
  if (models.includes(name)) {
    const hint = "If you want to load the adapter in place, set 'load_inplace' to True."
    return error(`The lora adapter '${name}' has already been loaded. ${hint}`, 'InvalidUserInput', 400)
  }
  let config
  try {
    config = JSON.parse(readFileSync(join(folder, 'adapter_config.json'), 'utf8'))
    readFileSync(join(folder, 'adapter_model.safetensors'))
  } catch {
    return error(`Loading lora ${name} failed: No adapter found for ${folder}`, 'NotFoundError', 404)
  }
  if (config.r > (lora.maxRank ?? 16)) {
    return error(`LoRA rank ${config.r} is greater than max_lora_rank ${lora.maxRank ?? 16}.`, 'BadRequestError', 400)
  }
  return null
}

const unloadRefusal = ({ models }, name) =>
  models.includes(name) ? null : error(`The lora adapter '${name}' cannot be found.`, 'NotFoundError', 404)
