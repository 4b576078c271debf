import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../support/processes/run.js';
import { findProgram } from '../../support/servers/find-program.js';
import { openService, type OpenService } from './open-service.js';

const ROOT = join(__dirname, '../../..');
const GUIDE = readFileSync(join(ROOT, 'docs/service.md'), 'utf8');
const LOCAL = 'http://127.0.0.1:3000';

/** Every curl line, with the answer below it. */
const CALLS = [...GUIDE.matchAll(/^(curl .*)\n# (.*)$/gm)].map((match) => ({ line: match[1]!, answer: match[2]! }));

/** What every answer has in common: IDs differ from run to run. */
function outline(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(outline);
  if (typeof value === 'object' && value !== null) {
    return expect.objectContaining(
      Object.fromEntries(Object.entries(value).map(([name, each]) => [name, outline(each)])),
    );
  }
  if (/^urn:uuid:/.test(String(value))) return expect.stringMatching(/^urn:uuid:[\da-f-]{36}$/);
  if (/^INV-\d{4}-\d{6}$/.test(String(value))) return expect.stringMatching(/^INV-\d{4}-000001$/);
  return /^3007\d{13}$/.test(String(value)) ? expect.stringMatching(/^\d{17,19}$/) : value;
}

describe('docs/service.md', () => {
  let service: OpenService;

  beforeAll(async () => {
    findProgram('curl');
    service = await openService();
  });

  afterAll(() => service.close());

  it('shows the answer of each of its curl lines', () => {
    expect(CALLS).toHaveLength(GUIDE.match(/^curl /gm)!.length);
    expect(CALLS.length).toBeGreaterThan(7);
  });

  it.each(CALLS)('answers as it says: $line', async ({ line, answer }) => {
    const { stdout } = await run(['sh', '-c', line.replaceAll(LOCAL, service.url)]);
    expect(JSON.parse(stdout)).toEqual(outline(JSON.parse(answer)));
  });

  it('has every variable of the environment in its table, and no other', () => {
    const source = readFileSync(join(ROOT, 'apps/id-service/src/service-config.ts'), 'utf8');
    const read = [...source.matchAll(/\b([A-Z_]{4,}): (?:integer|workerId|oneOf|str|list|layout|webAddress|make)/g)];
    const secrets = /SECRETS.*= \[(.*)\]/
      .exec(source)![1]!
      .split(', ')
      .map((name) => `${name.slice(1, -1)}_FILE`);
    const listed = [...GUIDE.matchAll(/^\| `([A-Z_]+)`(?:, `([A-Z_]+)`)? \|/gm)].flatMap(([, ...names]) =>
      names.filter((name) => name !== undefined),
    );
    expect(listed.sort()).toEqual([...read.map(([, name]) => name), ...secrets].sort());
    expect(listed).toHaveLength(21);
  });

  it('has every endpoint of the API', async () => {
    const { paths } = (await (await fetch(`${service.url}/docs-json`)).json()) as { paths: Record<string, object> };
    for (const path of Object.keys(paths)) expect(GUIDE).toContain(path.replace(/\{(\w+)\}/, ':$1'));
  });
});
