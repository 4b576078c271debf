import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (path: string): string => readFileSync(join(__dirname, '../..', path), 'utf8');

// CI builds once, so the two halves of `npm start` are run apart: the build in its step, the program by many tests.
it.each(['README.md', 'docs/service.md'])(
  'npm start of %s is the build of CI, then the program that tests start',
  (path) => {
    expect(read(path)).toMatch(/^npm ci && npm start\b/m);
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };
    const [, build, program] = /^(npm run --silent build) && node (\S+)$/.exec(scripts['start']!)!;
    expect(read('.ci/run')).toContain(`step 'build' ${build}\n`);
    expect(read('test/demo/demo-process.ts')).toContain(`'../../${program}'`);
  },
);
