import type { SnowflakeModuleOptions } from '@raindrop/nestjs';
import { DataSource } from 'typeorm';
import { testDatabase, type DatabaseKind, type TestDatabase } from '../../support/servers/test-databases.js';
import { Crew } from './crew.js';
import type { MemberSetup } from './member-messages.js';

/** IDs that each member issues. */
export const IDS = 20_000;

/** Workers 1 to 31, with the usual lease. */
export const OPTIONS: SnowflakeModuleOptions = {
  startTimeStamp: '2026-01-01',
  timeStampLength: 33,
  workIdLength: 5,
  endBitsLength: 1,
};

/** A database and a crew for every test of a suite. */
export interface CrewFixture {
  readonly crew: Crew;
  setup(more?: Partial<MemberSetup>): MemberSetup;
  /** The worker ids whose rows are held. */
  heldWorkers(): Promise<number[]>;
}

/** Makes them before each test, and leaves nothing running after it. */
export function useCrew(kind: DatabaseKind): CrewFixture {
  let database: TestDatabase;
  let crew: Crew;
  beforeEach(async () => {
    database = await testDatabase(kind);
    crew = new Crew();
  });
  afterEach(async () => {
    await crew.end();
    await database.drop();
  });
  return {
    get crew() {
      return crew;
    },
    setup: (more) => ({ database: database.options, options: OPTIONS, ...more }),
    heldWorkers: async () => {
      const source = await new DataSource(database.options).initialize();
      try {
        const rows: { id: string | number }[] = await source.query(
          `SELECT id FROM soc_raindrop_worker WHERE token <> '' ORDER BY id`,
        );
        return rows.map(({ id }) => Number(id));
      } finally {
        await source.destroy();
      }
    },
  };
}

export function ascending(numbers: readonly number[]): number[] {
  return [...numbers].sort((a, b) => a - b);
}
