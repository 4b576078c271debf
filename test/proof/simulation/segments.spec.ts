import Sqlite from 'better-sqlite3';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SeededRandom } from '../../support/engine/seeded-random.js';
import { sqliteDialect } from '../../../libs/node/src/database/sqlite-dialect.js';
import { SegmentDatabase } from '../../../libs/node/src/segment-table/segment-database.js';
import type { SqlSegmentStore } from '../../../libs/node/src/segment-table/sql-segment-store.js';
import { openSegmentStore } from '../../support/stores/open-segment-store.js';
import { runs } from '../../tier.js';

const SCHEDULES = runs(100);
/** Within so many schedules a broken rule must show. */
const CAUGHT_WITHIN = 300;
const STEPS = 60;
const SKIP = 10_000;
const SERVERS = ['A.db', 'B.db', 'C.db'];
const CODES = ['orders', 'bills'];
const STATE = 'raindrop_segment_state';

/** A server is a file, and a connection knows in which one it is. */
const TERM = '(SELECT substr(file, -4) FROM pragma_database_list WHERE seq = 0)';

/** Servers that take turns; what they lack is what was reserved since a copy was made. */
class Servers {
  primary = SERVERS[0]!;
  readonly address: string;
  private copies: { readonly file: string; readonly noted: string; readonly epoch: number }[] = [];
  private made = 0;

  constructor(private readonly directory: string) {
    this.address = join(directory, 'table.db');
    writeFileSync(this.file(this.primary), '');
    this.lead();
  }

  /** What a standby may have if it follows no longer. */
  keep(): void {
    const file = `copy ${this.made++}`;
    copyFileSync(this.file(this.primary), this.file(file));
    this.copies.push({ file, ...this.noted(file) });
  }

  /**
   * Another server takes over, which lacks something, but no note of a failover: that is a known limit, and so is a way back
   * to a server that knows of none in between.
   * @returns its name; undefined when there is none that may
   */
  failOver(random: SeededRandom): string | undefined {
    const present = this.noted(this.primary);
    const copy = random.pick(this.copies.slice(-6));
    const next = random.pick(SERVERS.filter((each) => each !== this.primary));
    if (present.noted !== this.primary || copy.noted !== this.primary || copy.epoch !== present.epoch) return undefined;
    rmSync(this.file(next), { force: true });
    copyFileSync(this.file(copy.file), this.file(next));
    this.primary = next;
    this.copies = [];
    this.keep();
    this.lead();
    return next;
  }

  /** The note of the present server is dropped, once there is one: what is dropped before is lost with the failover. */
  dropState(): void {
    if (this.noted(this.primary).noted !== this.primary) return;
    const connection = new Sqlite(this.file(this.primary));
    connection.exec(`DELETE FROM ${STATE}`);
    connection.close();
    this.copies = [];
    this.keep();
  }

  private noted(file: string): { readonly noted: string; readonly epoch: number } {
    const connection = new Sqlite(this.file(file), { readonly: true });
    const [row] = connection.prepare(`SELECT term, epoch FROM ${STATE}`).all() as { term: string; epoch: number }[];
    connection.close();
    return { noted: row?.term ?? '', epoch: row?.epoch ?? 0 };
  }

  private lead(): void {
    rmSync(this.address, { force: true });
    symlinkSync(this.file(this.primary), this.address);
  }

  private file(name: string): string {
    return join(this.directory, name);
  }
}

interface Process {
  readonly store: SqlSegmentStore;
  readonly sources: Map<string, ReturnType<SqlSegmentStore['source']>>;
  /** Where its session leads, if it has one. */
  server: string;
}

/** @returns the numbers that came twice */
async function run(seed: number): Promise<{ readonly repeated: string[]; readonly failovers: number }> {
  const random = new SeededRandom(seed);
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-segments-'));
  const servers = new Servers(directory);
  const given = new Set<string>();
  const repeated: string[] = [];
  let failovers = 0;

  const open = (): Process => ({
    store: openSegmentStore(
      { type: 'better-sqlite3', database: servers.address },
      { skipAfterFailover: SKIP, defaultStep: 10 },
    ),
    sources: new Map(),
    server: servers.primary,
  });
  const reserve = async ({ store, sources }: Process): Promise<void> => {
    const code = random.pick(CODES);
    const source = sources.get(code) ?? store.source(code);
    sources.set(code, source);
    const { first, last } = await source.reserve({ count: random.below(5) + 1, above: 0n });
    for (let number = first; number <= last; number++) {
      if (given.has(`${code} ${number}`)) repeated.push(`${code} ${number}`);
      given.add(`${code} ${number}`);
    }
  };

  const processes = [open(), open(), open()];
  try {
    await processes[0]!.store.prepare();
    for (const each of processes) await reserve(each);
    servers.keep();
    for (let step = 0; step < STEPS && repeated.length === 0; step++) {
      const index = random.below(processes.length);
      const event = random.weighted({ reserve: 14, failover: 3, restart: 2, drop: 0.3 });
      if (event === 'failover') {
        const next = servers.failOver(random);
        if (next !== undefined) failovers++;
        for (const [place, each] of processes.entries()) {
          // The sessions of a server that is rebuilt end; so do some others.
          if (each.server !== next && random.chance(0.5)) continue;
          await each.store.close();
          processes[place] = open();
        }
      } else if (event === 'restart') {
        await processes[index]!.store.close();
        processes[index] = open();
      } else if (event === 'drop') servers.dropState();
      else {
        await reserve(processes[index]!).catch((error: unknown) => {
          // Refused is not given out.
          if (!(error instanceof Error) || !('errorCode' in error)) throw error;
        });
        servers.keep();
      }
    }
  } finally {
    for (const { store } of processes) await store.close();
    rmSync(directory, { recursive: true });
  }
  return { repeated, failovers };
}

describe('Segments of servers that take turns', () => {
  beforeEach(() => {
    jest.replaceProperty(sqliteDialect, 'term', TERM);
    jest.replaceProperty(sqliteDialect, 'termOfWrite', TERM);
  });
  afterEach(() => jest.restoreAllMocks());

  it(`repeat no number in ${SCHEDULES} schedules`, async () => {
    let all = 0;
    for (let seed = 1; seed <= SCHEDULES; seed++) {
      const { repeated, failovers } = await run(seed);
      expect({ seed, repeated }).toEqual({ seed, repeated: [] });
      all += failovers;
    }
    expect(all).toBeGreaterThan(SCHEDULES);
  });

  it('repeat some if nothing is skipped', async () => {
    jest.spyOn(SegmentDatabase.prototype, 'skipAfterFailover', 'get').mockReturnValue(0);
    let repeated: string[] = [];
    for (let seed = 1; seed <= CAUGHT_WITHIN && repeated.length === 0; seed++) ({ repeated } = await run(seed));
    expect(repeated).not.toEqual([]);
  });
});
