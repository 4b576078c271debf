import { DataSource } from 'typeorm';

/** UPDATEs of one row, one after the other, through TypeORM and nothing else: what a database commits in a second. */
export async function openBareRow({ options }) {
  const source = await new DataSource(options).initialize();
  await source.query('CREATE TABLE bare_row (id INTEGER PRIMARY KEY, n BIGINT NOT NULL)');
  await source.query('INSERT INTO bare_row VALUES (1, 0)');
  const updateFor = async (seconds) => {
    const begun = performance.now();
    let updates = 0;
    for (; performance.now() - begun < seconds * 1_000; updates++) {
      await source.query('UPDATE bare_row SET n = n + 1000 WHERE id = 1');
      await new Promise(setImmediate);
    }
    return (updates / (performance.now() - begun)) * 1_000;
  };
  return { updateFor, close: () => source.destroy() };
}
