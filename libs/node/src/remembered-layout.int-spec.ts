import { UnclearLayoutError } from '../../core/src/lease/layout-choice.js';
import { SILENT } from '../../../test/support/module/start-app.js';
import { overPortsOfTier, sqlDatabase } from '../../../test/support/stores/sql-database.js';
import { FIRST_LAYOUTS, openRelease, type Release } from '../../../test/support/engine/open-release.js';
import { kindsInTurn, testDatabase, type TestDatabase } from '../../../test/support/servers/test-databases.js';
import { openIdService } from './service/open-id-service.js';
import type { SnowflakeModuleOptions } from './options/service-options.js';

const BITS = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 };
const DEFAULT = '1000@1767225600:t33.w10.b1.s18.e1=0';
const NUMBER = '1000@1767225600:t30.w8.b1.s13.e1=0';

overPortsOfTier(() => {
  describe.each(kindsInTurn(__filename))('A service whose options name no layout, on %s,', (kind) => {
    let database: TestDatabase;
    beforeEach(async () => {
      database = await testDatabase(kind);
    });
    afterEach(() => database.drop());

    const options = (more: SnowflakeModuleOptions = {}): SnowflakeModuleOptions => ({
      dbConfig: sqlDatabase(database.options),
      logger: SILENT,
      serviceMaxWorkId: 8,
      ...more,
    });

    /** Starts, issues and ends. @returns the layout that it had */
    async function serve(more?: SnowflakeModuleOptions, release: Release = 'this release'): Promise<string> {
      const ids = await openRelease(release, options(more));
      expect(ids.parse(ids.nextId()).workerId).toBe(ids.workerId);
      await ids.close();
      return ids.layout.fingerprint;
    }

    it('takes the default on an empty table, and says what it comes to', async () => {
      const log = jest.fn();
      const ids = await openIdService(options({ logger: { ...SILENT, log } }));
      expect([ids.layout.fingerprint, ids.status()]).toEqual([
        DEFAULT,
        expect.objectContaining({ fingerprint: DEFAULT }),
      ]);
      const line = `IDs until 2298-03-16; 262,144 a second and process; 8 worker ids (layout ${DEFAULT})`;
      expect(log).toHaveBeenCalledWith(line, 'Raindrop');
      await ids.close();
    });

    it('keeps that layout through a release with another default', async () => {
      expect(await serve()).toBe(DEFAULT);
      expect(await serve({}, 'a later release')).toBe(DEFAULT);
      expect(await serve({}, 'one with another end value')).toBe(DEFAULT);
    });

    it('takes what options named before: bits, a ready layout, or number', async () => {
      const bits = { startTimeStamp: '2025-05-05', timeStampLength: 35, workIdLength: 4 } as const;
      const named = await serve(bits);
      expect([named, await serve()]).toEqual(['1000@1746403200:t35.w4.b1.s23', named]);
      const tableName = 'others';
      expect(await serve({ tableName, layout: 'number' })).toBe(NUMBER);
      expect(await serve({ tableName })).toBe(NUMBER);
    });

    it('starts together with those of another release, with one layout', async () => {
      const releases: Release[] = ['this release', 'a later release', 'one with another end value'];
      const services = await Promise.all(releases.map((release) => openRelease(release, options())));
      expect(new Set(services.map(({ layout }) => layout.fingerprint)).size).toBe(1);
      const issued = services.flatMap((ids) => ids.nextIds(500));
      expect(new Set(issued).size).toBe(1_500);
      await Promise.all(services.map((ids) => ids.close()));
    });

    it('goes over to other bits by options alone, under the rules for a change', async () => {
      expect(await serve()).toBe(DEFAULT);
      expect(await serve(BITS)).toBe(DEFAULT);
      await expect(serve({ layout: 'number' })).rejects.toMatchObject({ errorCode: 'LAYOUT_CONFLICT' });
      // Larger for good: the old one is left behind.
      // In the second in which the old one ended it has to wait for the next.
      const waitForWorkerMs = 10_000;
      const larger = await serve({ ...BITS, startTimeStamp: '2010-01-01', waitForWorkerMs });
      expect([larger, await serve({ waitForWorkerMs })]).toEqual([expect.stringContaining('@1262304000:'), larger]);
    });

    it('is refused where two layouts live, told of both, and starts when its options name one', async () => {
      const other = { layout: 'number', endBitsValue: 1, serviceMinWorkId: 5 } as const;
      await serve({ serviceMaxWorkId: 4 });
      const ids = await openIdService(options(other));
      const error = await serve().catch((reason: unknown) => reason as UnclearLayoutError);
      expect(error).toBeInstanceOf(UnclearLayoutError);
      expect((error as UnclearLayoutError).layouts).toEqual([
        expect.objectContaining({
          workerIds: [ids.workerId],
          description: expect.stringContaining('end value 1') as string,
        }),
        expect.objectContaining({ fingerprint: DEFAULT, workerIds: [], lastUsed: expect.any(Date) as Date }),
      ]);
      await ids.close();
      await expect(serve()).rejects.toMatchObject({ errorCode: 'UNCLEAR_LAYOUT' });
      expect(await serve({ layout: FIRST_LAYOUTS['this release'] })).toBe(DEFAULT);
      expect(await serve(other)).toContain('e1=1');
    });

    it('is refused by its other options where they do not go with what the table remembers', async () => {
      await serve({ ...BITS, timeUnit: 'minute', timeStampLength: 27 });
      await expect(serve({ onExhausted: 'borrow' })).rejects.toThrow('onExhausted = "borrow": requires a unit of');
    });
  });
});

describe('A service that gets its worker id from where no store remembers layouts', () => {
  it('always has the layout that never changes', async () => {
    const options = { workerIdAssigner: 'static', workerId: 3, restartWaitMs: false, logger: SILENT } as const;
    const ids = await openRelease('a later release', options);
    expect(ids.layout.fingerprint).toBe(DEFAULT);
    await ids.close();
  });
});
