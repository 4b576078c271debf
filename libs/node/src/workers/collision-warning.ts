import { collisionOdds, type WorkerRange } from '@raindrop/core';

const EXAMPLES = [2, 10, 50];

/** What is logged of a worker id that somebody else may have: how probable that is. */
export function collisionWarning(workerId: number, source: string, { min, max }: WorkerRange): string {
  const ids = max - min + 1;
  const odds = EXAMPLES.map((processes) => `${percent(collisionOdds(ids, processes))} among ${processes}`);
  return (
    `UNSAFE worker id ${workerId}, made of ${source}: nothing keeps another process from having it, and then IDs repeat. ` +
    `If chance decided, two of the processes would share one of ${ids} ids with a probability of ${odds.join(', ')}. ` +
    `Lease worker ids (workerIdAssigner: 'database') where IDs matter`
  );
}

function percent(odds: number): string {
  return `${(odds * 100).toPrecision(2)} %`;
}
