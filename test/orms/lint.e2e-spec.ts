import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { run } from '../support/processes/run.js';

const ESLINT = join(dirname(createRequire(__filename).resolve('eslint/package.json')), 'bin/eslint.js');
const DEADLINE_MS = 400_000;
const ROOT = resolve(__dirname, '../..');

// `npm run lint` says the same wherever it runs: it leaves these rules to this test, which has the types of the ORMs.
it(
  'the entries for ORMs and their suites keep to the rules about types',
  async () => {
    const command = [process.execPath, ESLINT, '--max-warnings', '0', 'libs/orm/src', 'test/orms/*/*.ts'] as const;
    const environment = { RAINDROP_LINT_ORMS: '1' };
    const { code, stdout, stderr } = await run(command, { cwd: ROOT, environment, withinMs: DEADLINE_MS });
    expect({ code, printed: stdout + stderr }).toEqual({ code: 0, printed: '' });
  },
  DEADLINE_MS,
);
