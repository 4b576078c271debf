import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Listening } from '../../support/processes/listening.js';
import { answersAsShown, namesTakenPort } from './answers-as-shown.js';
import { BuiltExample } from './built-example.js';
import { send } from './send.js';

const BATCH = 10_000;
const BATCHES = 5;

interface Parsed {
  readonly workerId: number;
  readonly endBits: number;
}

describe('The example "two-data-centres"', () => {
  let folder: string;
  let example: BuiltExample;

  beforeAll(async () => {
    example = await BuiltExample.build('two-data-centres');
  });

  afterAll(() => example.drop());

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'raindrop-centres-'));
  });

  afterEach(async () => {
    await example.stopAll();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = (way: string, place: string, database = place): Promise<Listening> =>
    example.start(folder, { APART_BY: way, DATA_CENTRE: place, DATABASE_URL: `sqlite:${database}.sqlite` });

  /** Leaves a database that has one worker id to give: this one. */
  const leaveOnly = async (workerId: number, way: string, place: string, database = place): Promise<void> => {
    await (await start(way, place, database)).stop();
    const table = new Database(join(folder, `${database}.sqlite`));
    table.prepare('UPDATE soc_raindrop_worker SET del_flag = 1 WHERE id <> ?').run(workerId);
    table.close();
  };

  it('answers as its README shows', () => answersAsShown(example, 'examples/two-data-centres/README.md'));

  it('names the variable of a port that is taken', () =>
    namesTakenPort((environment) =>
      example.start(folder, { APART_BY: 'end-bits', DATA_CENTRE: 'north', ...environment }),
    ));

  it('by worker ranges: two processes in each, and no ID twice', async () => {
    const norths = await Promise.all([start('worker-ranges', 'north'), start('worker-ranges', 'north')]);
    const souths = await Promise.all([start('worker-ranges', 'south'), start('worker-ranges', 'south')]);
    const workersOf = (processes: readonly Listening[]): Promise<number[]> =>
      Promise.all(processes.map(async (each) => (await parse(each, await issueOne(each))).workerId));
    for (const workerId of await workersOf(norths)) expect(workerId).toBeLessThan(512);
    for (const workerId of await workersOf(souths)) expect(workerId).toBeGreaterThan(511);
    expectNoneTwice(await issueMany([...norths, ...souths]));
  });

  it('by end bits: no ID twice although both lease the same worker id', async () => {
    await Promise.all(['north', 'south'].map((place) => leaveOnly(7, 'end-bits', place)));
    const [north, south] = await Promise.all([start('end-bits', 'north'), start('end-bits', 'south')]);
    const ids = await issueMany([north, south]);
    expectNoneTwice(ids);
    expect(await parse(south, ids[0]![0]!)).toMatchObject({ workerId: 7, endBits: 0 });
    expect(await parse(north, ids[1]![0]!)).toMatchObject({ workerId: 7, endBits: 1 });
  });

  it('notices IDs that come twice: the same, when both call themselves north', async () => {
    const databases = ['here', 'there'];
    await Promise.all(databases.map((database) => leaveOnly(7, 'end-bits', 'north', database)));
    const both = await Promise.all(databases.map((database) => start('end-bits', 'north', database)));
    const ids = (await issueMany(both)).flat();
    expect(new Set(ids).size).toBeLessThan(ids.length);
  });

  it.each([{}, { DATA_CENTRE: 'north' }, { APART_BY: 'end-bits' }, { APART_BY: 'end-bits', DATA_CENTRE: 'west' }])(
    'does not start without knowing where it is: %j',
    async (environment) => {
      await expect(example.start(folder, { APART_BY: '', DATA_CENTRE: '', ...environment })).rejects.toThrow(
        'set APART_BY=worker-ranges or end-bits, and DATA_CENTRE=north or south',
      );
    },
  );
});

async function issue(url: string, count: number): Promise<string[]> {
  const { status, body } = await send<string[]>(`${url}/ids?count=${count}`, { body: {} });
  expect(status).toBe(201);
  return body;
}

async function issueOne({ url }: Listening): Promise<string> {
  return (await issue(url, 1))[0]!;
}

/** All at the same time, so that they have their seconds in common. */
function issueMany(processes: readonly Listening[]): Promise<string[][]> {
  return Promise.all(
    processes.map(async ({ url }) => {
      const ids: string[] = [];
      for (let batch = 0; batch < BATCHES; batch++) ids.push(...(await issue(url, BATCH)));
      return ids;
    }),
  );
}

async function parse({ url }: Listening, id: string): Promise<Parsed> {
  return (await send<Parsed>(`${url}/ids/${id}`)).body;
}

function expectNoneTwice(ids: readonly (readonly string[])[]): void {
  const all = ids.flat();
  expect(all).toHaveLength(ids.length * BATCH * BATCHES);
  expect(new Set(all).size).toBe(all.length);
}
