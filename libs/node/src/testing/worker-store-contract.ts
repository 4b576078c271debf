import { Rows, type Cases, type WorkerStoreBench } from './bench.js';
import { clockCases, fenceCases, linearizableCases } from './clock-cases.js';
import { orderCases } from './order-cases.js';
import { deletedCases, endCases, foreignCases, prepareCases, sampleCases, writeCases } from './write-cases.js';

/** One promise of a worker store, and its test. */
export interface WorkerStoreCase {
  /** For the test's name. */
  readonly name: string;
  /** Makes a bench, and disposes of it. @throws AssertionError when the store breaks the promise */
  readonly run: () => Promise<void>;
}

/** The optional abilities of a store. */
export interface WorkerStoreFeatures {
  /** Rows can be marked deleted. Default false. */
  readonly deletedRows?: boolean;
  /** Programs that are not Raindrop, such as the Go original, write rows too. Default false. */
  readonly foreignWriters?: boolean;
}

/**
 * Lists what every `WorkerStore` promises, whatever is underneath, as cases for any test runner: Raindrop's own
 * stores pass the same list. A case takes some seconds at most, unless the store hangs: give tests a time limit.
 *
 * Some cases put `Date` of this process ahead or back by an hour while they run: let no other test run beside them.
 *
 * @param make makes an empty place for rows, for each case anew
 */
export function workerStoreContract(
  make: () => WorkerStoreBench | Promise<WorkerStoreBench>,
  { deletedRows = false, foreignWriters = false }: WorkerStoreFeatures = {},
): readonly WorkerStoreCase[] {
  const listed = (cases: Cases, topic = ''): WorkerStoreCase[] =>
    Object.entries(cases).map(([name, show]) => ({ name: topic + name, run: () => onBench(make, show) }));
  return [
    ...listed(prepareCases),
    ...listed(writeCases),
    ...listed(sampleCases, 'a sample of the free rows '),
    ...listed(orderCases, 'a sample of the free rows '),
    ...listed(linearizableCases),
    ...listed(clockCases),
    ...listed(fenceCases),
    ...listed(endCases),
    ...(deletedRows ? listed(deletedCases) : []),
    ...(foreignWriters ? listed(foreignCases) : []),
  ];
}

async function onBench(
  make: () => WorkerStoreBench | Promise<WorkerStoreBench>,
  show: (rows: Rows) => Promise<void>,
): Promise<void> {
  const bench = await make();
  try {
    await show(new Rows(bench));
  } finally {
    await bench.dispose();
  }
}
