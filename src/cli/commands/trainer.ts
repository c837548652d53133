import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pc from 'picocolors'
import type { PrecisionChoice } from '../../core/index.ts'
import { assertMayServe } from '../../gateway/index.ts'
import { type Device, openEmbeddedModel } from '../../model/index.ts'
import { openStore } from '../../store/index.ts'
import { startTrainer } from '../../trainer/index.ts'
import { explainFailure } from '../fail.ts'
import { trainerDoor } from '../serve/trainer-door.ts'
import { askedToStop } from '../serve/asked-to-stop.ts'
import { folderOf, locationOf, type StoreFlags } from '../with-store.ts'

interface TrainerFlags extends StoreFlags {
  readonly model?: string
  readonly precision?: PrecisionChoice
  readonly device?: Device
  readonly folder?: string
  readonly host?: string
  readonly port?: number
  readonly alpha?: number
}

/** `ratchet trainer`: the embedded engine behind the Tinker protocol, until it is asked to stop. */
export async function trainerCommand(flags: TrainerFlags): Promise<void> {
  const {
    model = 'minimind2-small',
    folder = join(folderOf(flags), 'trainer'),
    host = '127.0.0.1',
    port = 8000,
  } = flags
  const { alpha, precision = 'float32', device = 'cpu' } = flags
  const location = locationOf(flags)
  if ('path' in location && !existsSync(location.path)) await (await openStore(location)).close()
  // Its keys only: a gateway may write the store meanwhile.
  const store = await openStore({ ...location, readonly: true })
  try {
    await assertMayServe({ host, auth: 'auto' }, store.keys)
    const { service } = await openEmbeddedModel({ reference: model, precision, device })
    try {
      const server = await startTrainer({
        service,
        folder,
        host,
        port,
        ...(alpha === undefined ? {} : { alpha }),
        door: trainerDoor(store.keys, host),
        onFatal(error) {
          process.stderr.write(explainFailure(error))
          // What was accepted is on the disk: the next start does it.
          process.exit(1)
        },
        onUnswept: (error) => process.stderr.write(explainFailure(error)),
        onUnexpected: (error) => process.stderr.write(explainFailure(error)),
      })
      say(flags, server.url, model)
      await askedToStop()
      await server.close()
    } finally {
      await service.close()
    }
  } finally {
    await store.close()
  }
}

function say(flags: TrainerFlags, url: string, model: string): void {
  process.stdout.write(
    flags.json
      ? `${JSON.stringify({ type: 'listening', url })}\n`
      : [
          `${pc.green('●')} ${pc.bold(url)} trains and samples ${model} for the Tinker SDK.`,
          '',
          `  In Python:   ${pc.bold(`tinker.ServiceClient(base_url="${url}", api_key="tml-local")`)}`,
          '',
          '',
        ].join('\n'),
  )
}
