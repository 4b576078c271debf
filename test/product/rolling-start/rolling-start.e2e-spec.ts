import { databaseSettingsOf, type ServiceOptions } from '@raindrop/node';
import { databaseKinds, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { runTogether } from './run-together.js';

describe.each(databaseKinds)('processes of two releases that start together on an empty table of %s', (kind) => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await testDatabase(kind);
  });
  afterEach(() => database.drop());

  const unnamed = (): ServiceOptions => ({ dbConfig: databaseSettingsOf(database.options), serviceMaxWorkId: 12 });

  it.each([['a later release'], ['one with another end value']] as const)(
    'have one layout, and repeat no ID: this one and %s',
    async (later) => {
      const answers = await runTogether(['this release', later, 'this release', later], unnamed);
      expect(answers.map(({ errorCode }) => errorCode)).toEqual([undefined, undefined, undefined, undefined]);
      expect(new Set(answers.map(({ fingerprint }) => fingerprint)).size).toBe(1);
      expect(new Set(answers.flatMap(({ ids }) => ids ?? [])).size).toBe(4 * 2_000);
    },
  );

  // The control: each names its own default, so nothing is chosen from the table.
  it('are not both let in where each takes its own and could repeat the other’s IDs', async () => {
    const answers = await runTogether(['this release', 'a later release'], (release) => ({
      ...unnamed(),
      startTimeStamp: '2026-01-01',
      timeStampLength: 33,
      endBitsLength: 1,
      workIdLength: release === 'this release' ? 10 : 9,
    }));
    expect(answers.map(({ errorCode }) => errorCode)).toContain('LAYOUT_CONFLICT');
  });
});
