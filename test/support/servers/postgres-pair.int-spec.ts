import { PostgresPair, withPostgres } from './postgres-pair';

jest.setTimeout(120_000);

describe('A pair of PostgreSQL servers', () => {
  it('fails over, twice, to a standby that has all but what was committed while replication was held', async () => {
    const pair = await PostgresPair.start();
    const run = (sql: string): Promise<Record<string, unknown>[]> => withPostgres(pair.primary, (each) => each(sql));
    try {
      await run('CREATE TABLE drops (id bigint PRIMARY KEY)');
      for (const round of [1, 2]) {
        await run(`INSERT INTO drops (id) VALUES (${round})`);
        await pair.addStandby();
        await run(`INSERT INTO drops (id) VALUES (${round + 10})`);
        await pair.holdReplication();
        await run(`INSERT INTO drops (id) VALUES (${round + 100})`);
        expect(await run('SELECT id FROM drops WHERE id > 100')).toHaveLength(1);
        await pair.killPrimary();
        await pair.promote();
      }
      const rows = await run('SELECT id FROM drops ORDER BY id');
      expect(rows.map(({ id }) => Number(id))).toEqual([1, 2, 11, 12]);
    } finally {
      await pair.stop();
    }
  });
});
