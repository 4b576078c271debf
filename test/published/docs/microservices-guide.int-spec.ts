import { IdService, RaindropModule, type SnowflakeModuleOptions } from '@raindrop/nestjs';
import { DataSource } from 'typeorm';
import { startApp } from '../../support/module/module-fixture.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { jsonHere } from '../../product/cli/cli-in-process.js';
import { databaseUrl } from '../../product/service/service-process.js';
import { readDocument, runBlock, typescriptBlocks } from './typescript-blocks.js';

const PAGE = readDocument('docs/microservices.md');
const [oneTable, ranges, endBits] = typescriptBlocks(PAGE);
const [deletion] = [...PAGE.matchAll(/^```sql\n([\s\S]*?);\n^```$/gm)].map(([, sql]) => sql!);

type OptionsOf = (service: string) => SnowflakeModuleOptions;

const quiet = { log: () => {}, warn: () => {}, error: () => {} };

/** Runs a block: what it exports, and the options that it gives to the module. */
function optionsOf(block: string, ids = ''): { shown: SnowflakeModuleOptions; exported: Record<string, unknown> } {
  const given: SnowflakeModuleOptions[] = [];
  const Spy = { forRoot: (options: SnowflakeModuleOptions) => given.push(options) };
  const exported = runBlock(block, { RaindropModule: Spy, process: { env: { IDS_DATABASE_URL: ids } } });
  return { shown: given[0]!, exported };
}

describe.each(databaseKinds)('docs/microservices.md on %s', (kind) => {
  let databases: readonly TestDatabase[];
  let urls: readonly string[];

  beforeEach(async () => {
    databases = [await testDatabase(kind), await testDatabase(kind)];
    urls = databases.map(({ options }) => databaseUrl(options));
  });

  afterEach(async () => {
    for (const database of databases) await database.drop();
  });

  /** Starts the services together, each on its database. @returns the layout, worker id and IDs of each */
  async function issue(
    ...services: readonly SnowflakeModuleOptions[]
  ): Promise<{ fingerprint: string; workerId: number; ids: bigint[] }[]> {
    const apps = await Promise.all(
      services.map((options, index) =>
        startApp([RaindropModule.forRoot({ dbConfig: urls[index]!, logger: quiet, ...options })]),
      ),
    );
    const issued = apps.map((app) => {
      const ids = app.get(IdService);
      return { fingerprint: ids.layout.fingerprint, workerId: ids.workerId!, ids: ids.nextIds(1_000) };
    });
    await Promise.all(apps.map((app) => app.close()));
    return issued;
  }

  async function verdict(): Promise<string> {
    const args = ['doctor', ...urls.flatMap((url) => ['--url', url])];
    return (await jsonHere<{ state: string }>(args)).result.state;
  }

  const distinct = (issued: readonly { ids: bigint[] }[]): number => new Set(issued.flatMap(({ ids }) => ids)).size;

  it('two tables with one worker id give equal IDs, as the page warns', async () => {
    const one = { serviceMaxWorkId: 1 };
    const [orders, billing] = await issue(one, one);
    expect([orders!.workerId, billing!.workerId]).toEqual([1, 1]);
    expect(orders!.fingerprint).toBe(billing!.fingerprint);
    // In which seconds they issue is left to chance: the positions that follow from it are not.
    const low = ({ ids }: { ids: bigint[] }): string[] => ids.map((id) => String(id & ((1n << 30n) - 1n)));
    expect(low(orders!)).toEqual(low(billing!));
    expect(await verdict()).toBe('fail');
  });

  it('one worker table gives each process a worker id of its own', async () => {
    const { shown } = optionsOf(oneTable!, urls[0]);
    const issued = await issue(shown, shown);
    expect(issued[0]!.workerId).not.toBe(issued[1]!.workerId);
    expect(distinct(issued)).toBe(2_000);
  });

  it('ranges of ten services keep them apart, also on tables that were used before', async () => {
    await issue({}, {});
    expect(await verdict()).toBe('fail');
    const { shown, exported } = optionsOf(ranges!);
    const workersOf = exported['workersOf'] as OptionsOf;
    expect(shown).toEqual({ serviceMinWorkId: 103, serviceMaxWorkId: 204 });
    expect(workersOf('support')).toEqual({ serviceMinWorkId: 919, serviceMaxWorkId: 1_020 });
    expect(() => workersOf('no one')).toThrow('no one has no worker ids');
    const services = [workersOf('orders'), shown];
    expect(distinct(await issue(...services))).toBe(2_000);
    const ownRange = [deletion!.replace('103', '1').replace('204', '102'), deletion!];
    for (const [index, { options }] of databases.entries()) {
      const source = await new DataSource(options).initialize();
      await source.query(ownRange[index]!);
      await source.destroy();
    }
    expect(await verdict()).toBe('ok');
    const issued = await issue(...services);
    expect(distinct(issued)).toBe(2_000);
    expect(issued.map(({ workerId }) => Math.ceil(workerId / 102))).toEqual([1, 2]);
    expect(await verdict()).toBe('ok');
  });

  it('end bits keep them apart, with 15 bits of sequence left', async () => {
    const { shown, exported } = optionsOf(endBits!);
    const bitsOf = exported['bitsOf'] as OptionsOf;
    expect(() => bitsOf('no one')).toThrow('no one has no end bits');
    const issued = await issue(bitsOf('orders'), shown);
    expect(distinct(issued)).toBe(2_000);
    expect(issued.map(({ ids }) => [...new Set(ids.map((id) => id & 15n))])).toEqual([[0n], [1n]]);
    expect(issued.map(({ fingerprint }) => fingerprint.split('.').slice(3))).toEqual([
      ['s15', 'e4=0'],
      ['s15', 'e4=1'],
    ]);
    expect(await verdict()).toBe('ok');
  });

  it('an odd value keeps a service apart from its own IDs of the default layout', async () => {
    const { shown } = optionsOf(endBits!);
    const issued = [...(await issue({})), ...(await issue(shown))];
    expect(distinct(issued)).toBe(2_000);
  });
});
