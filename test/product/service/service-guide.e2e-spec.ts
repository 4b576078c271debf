import { IdService } from '@raindrop/nestjs';
import { parseId } from '@raindrop/core';
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

/** Stands for members that an answer of the guide leaves out. */
const LEFT_OUT = '"...": true';

/** What the guide shows of an answer, with IDs and names that differ from run to run. */
function outline(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(outline);
  if (typeof value === 'object' && value !== null) {
    const { '...': isPart, ...members } = value as Record<string, unknown>;
    const shown = Object.fromEntries(Object.entries(members).map(([name, each]) => [name, outline(each)]));
    return isPart === undefined ? shown : expect.objectContaining(shown);
  }
  if (/^urn:uuid:/.test(String(value))) return expect.stringMatching(/^urn:uuid:[\da-f-]{36}$/);
  if (/^INV-\d{4}-\d{6}$/.test(String(value))) return expect.stringMatching(/^INV-\d{4}-000001$/);
  return isIssued(value) ? expect.stringMatching(/^\d{17,19}$/) : value;
}

/** Whether the guide's run issued it. */
function isIssued(value: unknown): value is string {
  return /^3087\d{13}$/.test(String(value));
}

/** The IDs of an answer: of a list, or of a line of the stream. */
function idsOf(answer: unknown): string[] {
  return typeof answer === 'string' ? [answer] : ((answer as { ids?: string[] }).ids ?? []);
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
    const shown: unknown = JSON.parse(answer.replaceAll(/\.\.\.(?=\})/g, LEFT_OUT));
    const answered: unknown = JSON.parse(stdout);
    expect(answered).toEqual(outline(shown));
    // Each code begins its own sequence, so a run repeats the places of the IDs in it.
    const { layout } = service.app.get(IdService);
    const places = (ids: string[]): number[] => ids.map((id) => parseId(layout, id).sequence);
    expect(places(idsOf(answered))).toEqual(places(idsOf(shown)));
  });

  it('shows the IDs of one process, and that two codes may have equal ones', () => {
    const { layout } = service.app.get(IdService);
    const issued = CALLS.map(({ answer }) => [...answer.matchAll(/\d{17}/g)].map(([id]) => id).filter(isIssued));
    const workers = issued.flat().map((id) => parseId(layout, id).workerId);
    expect(new Set(workers).size).toBe(1);
    expect(issued[0]![0]).toBe(issued[1]![0]);
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
