import { RaindropError, type LeaseOptions, type ResolvedLayout } from '@raindrop/core';
import { resolveLeaseOptions, SnowflakeGenerator, wallClock } from '@raindrop/core/internal';
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { resolveLayout } from '../../../libs/core/src/layout/layout-options.js';
import { StaticTenure } from '../../../libs/core/src/generator/tenure.js';
import { systemPorts } from '../../../libs/node/src/system/system-ports.js';
import { FileWorkerStore } from '../../../libs/node/src/state-file/file-worker-store.js';
import { leasedIssuer } from '../processes/leased-issuer.js';

/** What a process is started with. */
export interface IssuerSetup {
  /** Undefined: worker 1 without a memory, which is the control. */
  readonly path?: string | undefined;
  readonly lease: LeaseOptions;
  readonly workers: number;
  /** How far this process's clock is from the true one. */
  readonly clockOffsetMs: number;
  /** What this process's clock shows at its start, in place of that. */
  readonly clockStartsAt?: number;
  /** Every ID goes here, eight bytes each. */
  readonly idsFile: string;
}

/** Issues IDs without a rest until it is killed, or closes when it is told to. Says `issuing` after the first ones. */
async function main({ path, lease, workers, clockOffsetMs, clockStartsAt, idsFile }: IssuerSetup): Promise<void> {
  const trueNow = Date.now.bind(Date);
  const offsetMs = clockStartsAt === undefined ? clockOffsetMs : clockStartsAt - trueNow();
  Date.now = wallClock.now = () => trueNow() + offsetMs;
  const layout = {
    timeUnit: 'millisecond',
    startTimeStamp: '2024-01-01',
    timeStampLength: 41,
    workIdLength: 5,
  } as const;
  const resolved = resolveLayout({ ...layout, serviceMinWorkId: 1, serviceMaxWorkId: workers }, Date.now());
  const options = { name: 'issuer', resolved, lease: resolveLeaseOptions(lease) };
  const { keeper, generator } =
    path === undefined ? withoutMemory(resolved) : leasedIssuer(new FileWorkerStore({ path }), options);
  await keeper?.start();
  const file = openSync(idsFile, 'a');
  let isClosing = false;
  process.on('message', () => {
    isClosing = true;
    void (keeper?.close() ?? Promise.resolve()).then(() => process.disconnect());
  });
  const batch = new BigInt64Array(16);
  for (let first = true; !isClosing; await sleep(1)) {
    try {
      generator.fill(batch);
      writeSync(file, batch);
      if (first) process.send!('issuing');
      first = false;
    } catch (error) {
      if (!(error instanceof RaindropError && error.retryable)) throw error;
    }
  }
}

/** The control. */
function withoutMemory({ layout }: ResolvedLayout): { keeper: undefined; generator: SnowflakeGenerator } {
  const generator = new SnowflakeGenerator({ layout, tenure: new StaticTenure(1) }, systemPorts('turn'));
  return { keeper: undefined, generator };
}

const given = process.env['RAINDROP_TEST_ISSUER'];
if (given !== undefined) {
  main(JSON.parse(given) as IssuerSetup).catch((error: unknown) => {
    process.send!({ failure: String(error) });
    process.disconnect();
  });
}
