import { createLayout, type Layout } from '@raindrop/core';
import { openEngine } from '../../../libs/node/src/engines/open-engine.js';
import { IdService } from '../../../libs/node/src/service/id-service.js';
import { resolveServiceOptions } from '../../../libs/node/src/options/resolve-options.js';
import type { ServiceOptions } from '../../../libs/node/src/options/service-options.js';
import { SILENT } from '../module/start-app.js';

const BITS = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 };

/** What releases take on an empty table: this one, and later ones, of which the second could not repeat its IDs. */
export const FIRST_LAYOUTS = {
  'this release': createLayout(BITS),
  'a later release': createLayout({ ...BITS, workIdLength: 9 }),
  'one with another end value': createLayout({ ...BITS, endBitsValue: 1 }),
} as const satisfies Readonly<Record<string, Layout>>;

export type Release = keyof typeof FIRST_LAYOUTS;

/** Opens a service as some release does. */
export async function openRelease(release: Release, options: ServiceOptions): Promise<IdService> {
  const engine = await openEngine(resolveServiceOptions(options, Date.now()), {
    name: 'default',
    database: undefined,
    logger: options.logger ?? SILENT,
    makeCustom: (assigner) => Promise.resolve(new assigner()),
    firstLayout: FIRST_LAYOUTS[release],
  });
  return new IdService('default', engine);
}
