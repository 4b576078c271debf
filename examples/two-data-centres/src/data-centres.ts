import type { RaindropModuleOptions } from '@raindrop/nestjs';

const bits = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 } as const;

/**
 * Two ways to keep data centres apart that have a database each: no lease reaches across, so the options must.
 * Take one of the two, and let every process of a data centre have the same.
 */
const dataCentres: Record<string, Record<string, RaindropModuleOptions>> = {
  // Each leases from a range of its own. The end bit stays free for a change of the layout.
  'worker-ranges': {
    north: { ...bits, serviceMinWorkId: 1, serviceMaxWorkId: 511 },
    south: { ...bits, serviceMinWorkId: 512, serviceMaxWorkId: 1023 },
  },
  // Each has all worker ids, and its IDs end in a bit of its own. 5 end bits would tell 32 data centres apart.
  'end-bits': {
    north: { ...bits, endBitsValue: 0 },
    south: { ...bits, endBitsValue: 1 },
  },
};

/**
 * The options of this process. Nothing is assumed: two data centres that both forget to say who they are would be one.
 * @throws Error when the environment names no data centre, or no way to keep it apart
 */
export function readDataCentre({ APART_BY, DATA_CENTRE, DATABASE_URL }: NodeJS.ProcessEnv): RaindropModuleOptions {
  const options = dataCentres[APART_BY ?? '']?.[DATA_CENTRE ?? ''];
  if (options === undefined) throw new Error('set APART_BY=worker-ranges or end-bits, and DATA_CENTRE=north or south');
  return { ...options, dbConfig: DATABASE_URL ?? `sqlite:${DATA_CENTRE}.sqlite` };
}
