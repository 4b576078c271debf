import { DataSource } from 'typeorm';
import { openStore, takeRow } from '../../../../test/support/stores/open-store.js';
import { testDatabase } from '../../../../test/support/servers/test-databases.js';

const LAYOUT = '1000@1767225600:t33.w10.b1.s18.e1=0';

/** What lets an UPDATE change nothing without a word, and no SELECT tells. */
const SILENCERS = [
  {
    what: 'row level security without a policy for UPDATE',
    sql: [
      'ALTER TABLE soc_raindrop_worker ENABLE ROW LEVEL SECURITY',
      'CREATE POLICY seen ON soc_raindrop_worker FOR SELECT USING (true)',
    ],
  },
  {
    what: 'a trigger that returns NULL',
    sql: [
      'CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
      'CREATE TRIGGER silent BEFORE UPDATE ON soc_raindrop_worker FOR EACH ROW EXECUTE FUNCTION nothing()',
    ],
  },
  { what: 'a rule', sql: ['CREATE RULE silent AS ON UPDATE TO soc_raindrop_worker DO INSTEAD NOTHING'] },
];

describe('A table on PostgreSQL whose UPDATEs change nothing', () => {
  it.each(SILENCERS)('by $what is refused in words, by a start and by what tries it', async ({ sql }) => {
    const database = await testDatabase('postgres');
    const admin = await new DataSource(database.options).initialize();
    const store = openStore(database.options);
    await store.prepare({ min: 1, max: 3 });
    await store.tryStart(LAYOUT);
    for (const each of sql) await admin.query(each);
    const role = `plain_${process.pid}_${SILENCERS.findIndex((each) => each.sql === sql)}`;
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`);
    await admin.query(`GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO ${role}`);
    const plain = openStore({ ...database.options, username: role, password: 'x' } as typeof database.options);
    const refusal = { errorCode: 'DATABASE_REFUSED', refusal: 'rights', retryable: false };
    await expect(takeRow(plain, 1)).rejects.toMatchObject(refusal);
    await expect(takeRow(plain, 1)).rejects.toThrow('row level security');
    await expect(plain.tryStart(LAYOUT)).rejects.toMatchObject(refusal);
    await Promise.all([store.close(), plain.close()]);
    await admin.query(`DROP OWNED BY ${role}`);
    await admin.query(`DROP ROLE ${role}`);
    await admin.destroy();
    await database.drop();
  });
});
