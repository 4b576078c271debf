import { once } from 'node:events';
import type { ServiceOptions } from '../../../libs/node/src/options/service-options.js';
import { openRelease, type Release } from '../../support/engine/open-release.js';

/** What a process of a release came to. */
export interface ReleaseAnswer {
  readonly fingerprint?: string;
  readonly ids?: readonly string[];
  readonly errorCode?: string;
}

const IDS = 2_000;

/** Starts when it is told, and keeps its worker id until it is told again, so that all are there together. */
async function serve(release: Release, options: ServiceOptions): Promise<void> {
  process.send!('ready');
  await once(process, 'message');
  try {
    const service = await openRelease(release, options);
    const ids = await service.nextStringsAsync(IDS);
    process.send!({ fingerprint: service.layout.fingerprint, ids } satisfies ReleaseAnswer);
    await once(process, 'message');
    await service.close();
  } catch (error) {
    const errorCode = (error as { errorCode?: string }).errorCode ?? String(error);
    process.send!({ errorCode } satisfies ReleaseAnswer);
  }
  process.disconnect();
}

const [release, options] = process.argv.slice(2);
void serve(release as Release, JSON.parse(options!) as ServiceOptions);
