import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { databaseKinds, testDatabase } from '../../../../test/support/servers/test-databases.js';

const HOOK = resolve(__dirname, '../../../../test/typescript-hook.cjs');
const PROCESSES = 6;
const STARTS = 5;

describe.each(databaseKinds)('Processes on an empty %s', (kind) => {
  it('that start at once, and again, are given a worker id each, none twice, and end by themselves', async () => {
    const database = await testDatabase(kind);
    const env = { ...process.env, RAINDROP_TEST_DATABASE: JSON.stringify(database.options) };
    const script = join(__dirname, '../../../../test/support/stores/starting-process.ts');
    const outputs = await Promise.all(
      Array.from({ length: PROCESSES }, () =>
        promisify(execFile)(process.execPath, ['--require', HOOK, script, String(STARTS)], { env, timeout: 150_000 }),
      ),
    );
    const ids = outputs.flatMap(({ stdout }) => JSON.parse(stdout) as number[]);
    expect([ids.length, new Set(ids).size]).toEqual([PROCESSES * STARTS, PROCESSES * STARTS]);
    await database.drop();
  });
});
