import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { run } from '../../support/processes/run.js';
import { openService, type OpenService } from './open-service.js';

const ROOT = resolve(__dirname, '../../..');
const GENERATOR = join(ROOT, 'node_modules/openapi-typescript/bin/cli.js');

interface Content {
  readonly schema?: { readonly $ref?: string };
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

type Contents = Readonly<Record<string, Content>>;

interface Operation {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly requestBody?: { readonly content: Contents };
  readonly responses: Readonly<Record<string, { readonly content?: Contents }>>;
}

interface Api {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let service: OpenService;
let api: Api;
let folder: string;

beforeAll(async () => {
  service = await openService();
  api = (await (await fetch(`${service.url}/docs-json`)).json()) as Api;
  folder = mkdtempSync(join(tmpdir(), 'raindrop-client-'));
});

afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

const operations = (): [path: string, method: string, operation: Operation][] =>
  Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [path, method, operation] as [string, string, Operation]),
  );

/** A line of TypeScript for each body that the document shows. */
function shownBodies(): string[] {
  return operations().flatMap(([path, method, { requestBody, responses }]) => {
    const at = `paths['${path}']['${method}']`;
    return [
      ...linesOf(`NonNullable<${at}['requestBody']>`, requestBody?.content),
      ...Object.entries(responses).flatMap(([status, { content }]) =>
        linesOf(`${at}['responses'][${/^\d+$/.test(status) ? status : `'${status}'`}]`, content),
      ),
    ];
  });
}

function linesOf(at: string, content: Contents = {}): string[] {
  return Object.entries(content).flatMap(([type, { example, examples }]) => {
    const shown = [
      ...(example === undefined ? [] : [example]),
      ...Object.values(examples ?? {}).map(({ value }) => value),
    ];
    return shown.map((value) => `bodies.push(${JSON.stringify(value)} satisfies ${at}['content']['${type}']);`);
  });
}

function typeErrors(file: string): string[] {
  const options = { strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, types: [] };
  const found = ts.getPreEmitDiagnostics(ts.createProgram([file], options));
  return found.map(({ messageText, file: at, start }) => {
    const line = at?.text.slice(start).split('\n', 1)[0] ?? '';
    return `${ts.flattenDiagnosticMessageText(messageText, '\n')} at ${line}`;
  });
}

it('a client that openapi-typescript has made compiles with every body that the document shows', async () => {
  writeFileSync(join(folder, 'api.json'), JSON.stringify(api));
  await run([process.execPath, GENERATOR, join(folder, 'api.json'), '--output', join(folder, 'client.ts')]);
  const bodies = shownBodies();
  expect(bodies.length).toBeGreaterThan(40);
  const head = `import type { components, paths } from './client';\nconst bodies: unknown[] = [];\n`;
  // What may be left out may be left out in the client, too.
  const least = `bodies.push({ startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10 } satisfies components['schemas']['LayoutRequest']);\n`;
  const file = join(folder, 'uses-client.ts');
  writeFileSync(file, `${head}${least}${bodies.join('\n')}\n`);
  expect(typeErrors(file)).toEqual([]);

  writeFileSync(file, `${head}bodies.push({ ids: 1 } satisfies components['schemas']['NewIds']);\n`);
  expect(typeErrors(file)).toEqual([expect.stringContaining(`Type 'number' is not assignable`)]);
  expect(readFileSync(join(folder, 'client.ts'), 'utf8')).toContain('issueIds');
});

it('every operation has a name of its own and a tag that says something', () => {
  const names = operations().map(([, , { operationId }]) => operationId);
  expect(names.filter((name) => !/^[a-z]+[A-Z][A-Za-z]+$/.test(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  const tags = operations().map(([, , operation]) => operation.tags);
  expect(tags.filter((each) => each?.length !== 1)).toEqual([]);
});
