import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const root = join(__dirname, '../../..');
const NAME = join(__dirname, 'hovered.ts');
const TEXT = `import type { SegmentModuleOptions, SnowflakeModuleOptions } from '@raindrop/node';
export const ids: SnowflakeModuleOptions = { leaseMs: 60_000, startTimeStamp: '2026-01-01', clock: 'exact' };
export const numbers: SegmentModuleOptions = { idMode: 'numberSection', chain: { safeDistance: 3 } };
`;

/** What an editor shows over a name in the text. */
function hover(service: ts.LanguageService, name: string): { type: string; about: string; tags: string[] } {
  const info = service.getQuickInfoAtPosition(NAME, TEXT.indexOf(name))!;
  const tags = (info.tags ?? []).map((tag) => `@${tag.name} ${ts.displayPartsToString(tag.text)}`);
  return {
    type: ts.displayPartsToString(info.displayParts),
    about: ts.displayPartsToString(info.documentation).split('\n')[0]!,
    tags,
  };
}

function languageService(): ts.LanguageService {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [NAME] }, ts.sys, root);
  const textOf = (path: string): string => (path === NAME ? TEXT : readFileSync(path, 'utf8'));
  return ts.createLanguageService({
    getScriptFileNames: () => [NAME],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => ts.ScriptSnapshot.fromString(textOf(path)),
    getCurrentDirectory: () => root,
    getCompilationSettings: () => options,
    getDefaultLibFileName: (each) => ts.getDefaultLibFilePath(each),
    fileExists: (path) => path === NAME || ts.sys.fileExists(path),
    readFile: (path) => ts.sys.readFile(path),
    directoryExists: (path) => ts.sys.directoryExists(path),
  });
}

it('an editor shows the sentence, the range and the default of an option', () => {
  const service = languageService();
  expect(service.getSemanticDiagnostics(NAME)).toEqual([]);
  expect(hover(service, 'leaseMs')).toEqual({
    type: '(property) leaseMs?: number | undefined',
    about: 'How long a lease lasts without a renewal.',
    tags: ['@range more than heartbeat + `opTimeoutMs`, to 86,400,000', '@defaultValue 60,000'],
  });
  expect(hover(service, 'startTimeStamp').tags).toEqual([
    '@range an ISO string (UTC unless it names a zone), a Date or Unix ms; not in the future',
  ]);
  expect(hover(service, 'clock')).toMatchObject({
    type: '(property) clock?: "turn" | "exact" | undefined',
    tags: ['@range `turn`, `exact`', '@defaultValue `turn`'],
  });
  expect(hover(service, 'safeDistance')).toEqual({
    type: '(property) safeDistance?: number | undefined',
    about: 'How many segments; more while callers find too few numbers.',
    tags: ['@range 1-1,000', '@defaultValue 2'],
  });
});
