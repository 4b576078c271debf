import type { SegmentSource, WorkerRow } from '@raindrop/core';
import { openSegmentStore } from '../../support/stores/open-segment-store.js';
import { openStore, takeRow } from '../../support/stores/open-store.js';
import { writeTo } from '../contract/worker-store.contract.js';
import type { SqlWorkerStore } from '../../../libs/node/src/worker-table/sql-worker-store.js';
import { MariadbPair } from '../../support/servers/mariadb-pair.js';
import { PostgresPair } from '../../support/servers/postgres-pair.js';
import { PAIR_ACCOUNTS, type ServerPair } from '../../support/servers/server-pair.js';
import { TcpSwitch } from '../../support/proxies/tcp-switch.js';
import { fenceRequest } from '../../support/stores/fence-request.js';

jest.setTimeout(120_000);

const WORKERS = { min: 1, max: 3 };
const REACH_MS = 60_000;
const SKIP = 100_000;

interface Process {
  readonly workers: SqlWorkerStore;
  readonly numbers: SegmentSource;
  readonly others: SegmentSource;
}

const ENGINES = [
  { engine: 'MariaDB', start: (): Promise<ServerPair> => MariadbPair.start(), account: PAIR_ACCOUNTS.mariadb },
  { engine: 'PostgreSQL', start: (): Promise<ServerPair> => PostgresPair.start(), account: PAIR_ACCOUNTS.postgres },
] as const;

describe.each(ENGINES)('A $engine', ({ start, account }) => {
  let pair: ServerPair;
  let way: TcpSwitch;
  const open: { close(): Promise<void> }[] = [];

  /** A process that has looked at everything. */
  const opened = async (port: number): Promise<Process> => {
    const options = { ...account, host: '127.0.0.1', port };
    const workers = openStore(options, { reachMs: REACH_MS });
    const segments = openSegmentStore(options, { skipAfterFailover: SKIP });
    open.push(workers, segments);
    await workers.prepare(WORKERS);
    await segments.prepare();
    await workers.readTable();
    return { workers, numbers: segments.source('order'), others: segments.source('other') };
  };

  /** The standby takes over, without what it has not received. */
  const failOver = async (): Promise<void> => {
    await pair.killPrimary();
    await pair.promote();
  };

  const numbersOf = async (source: SegmentSource, count: number): Promise<{ first: bigint; last: bigint }> =>
    source.reserve({ count, above: 0n });

  beforeEach(async () => {
    pair = await start();
    if (pair instanceof MariadbPair) pair.takesTurns = true;
    way = await TcpSwitch.atFreePort();
    way.pointTo(pair.primary.port);
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.close()));
    await Promise.all([pair.stop(), way.stop()]);
  });

  describe('that fails over to its standby, which fails over to one that has the place of the first', () => {
    /** The row as the process has read it on the first server, which lost what another process did there since. */
    const thereAndBack = async (): Promise<{ process: Process; row: WorkerRow; lost: bigint }> => {
      const process = await opened(way.port);
      await numbersOf(process.numbers, 100);
      const { row } = await process.workers.readRow(1);
      await pair.addStandby();
      await pair.holdReplication();
      const other = await opened(pair.primary.port);
      expect(await takeRow(other.workers, 1)).toBe(true);
      const { last } = await numbersOf(other.numbers, 100);
      await failOver();
      // The second server is noted by a process that uses other rows.
      const second = await opened(pair.primary.port);
      await numbersOf(second.others, 1);
      await pair.addStandby();
      await failOver();
      const third = await opened(pair.primary.port);
      await numbersOf(third.others, 1);
      way.pointTo(pair.primary.port);
      return { process, row: row!, lost: last };
    };

    it('gives no number to who remembers the first server that was given out there meanwhile', async () => {
      const { process, lost } = await thereAndBack();
      expect((await numbersOf(process.numbers, 100)).first).toBeGreaterThan(lost);
    });

    it('takes no write of a row that was read on the first server', async () => {
      const { process, row } = await thereAndBack();
      expect(await process.workers.write(writeTo(row))).toBe(false);
      // What is read now is past everything that was granted there.
      const { barredUntilMs, nowMs } = await process.workers.readTable();
      expect(barredUntilMs).toBeGreaterThan(nowMs);
    });
  });

  describe('whose old primary lives on', () => {
    /** New connections lead to that port, and both stores of a process have found out that theirs are cut. */
    const lead = async ({ workers, numbers }: Process, port: number): Promise<void> => {
      way.pointTo(port);
      await Promise.allSettled([workers.readTable(), numbers.reserve({ above: 0n })]);
    };

    /** A process that knows both, and is led to the old one again. */
    const ledBack = async (): Promise<Process> => {
      const process = await opened(way.port);
      await numbersOf(process.numbers, 100);
      await pair.addStandby();
      const { port: old } = pair.primary;
      way.pointNewOnesTo(0);
      await pair.divide();
      const successor = await opened(pair.primary.port);
      await numbersOf(successor.numbers, 100);
      await lead(process, pair.primary.port);
      await process.workers.readTable();
      await numbersOf(process.numbers, 100);
      await lead(process, old);
      return process;
    };

    it('is refused there by every process that has seen the successor', async () => {
      const process = await ledBack();
      const { workers, numbers } = process;
      const former = expect.objectContaining({ errorCode: 'FORMER_PRIMARY' }) as unknown;
      await expect(workers.readTable()).rejects.toEqual(former);
      await expect(takeRow(workers, 1)).rejects.toEqual(former);
      await expect(numbers.reserve({ above: 0n })).rejects.toMatchObject({ cause: former });
      await lead(process, pair.primary.port);
      expect(await takeRow(workers, 1)).toBe(true);
      expect((await numbersOf(numbers, 1)).first).toBeGreaterThan(SKIP);
    });

    it('is the primary again for all once it was fenced', async () => {
      const { workers } = await ledBack();
      const operator = openStore({ ...account, host: '127.0.0.1', port: way.port });
      open.push(operator);
      await operator.fence(fenceRequest(5_000));
      const { rows, nowMs, barredUntilMs = 0 } = await workers.readTable();
      for (const { odometers } of rows) expect(odometers[0].ms).toBeGreaterThan(nowMs);
      // As long as a failover does: what the other server granted is unknown here.
      expect(barredUntilMs - nowMs).toBeGreaterThan(REACH_MS - 20_000);
    });
  });
});
