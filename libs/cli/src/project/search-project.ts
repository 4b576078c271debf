import { relative } from 'node:path';
import type * as TypeScript from 'typescript';
import type { BreakingCode } from './breaking-code.js';
import type { Project } from './open-project.js';

type Place = Pick<BreakingCode, 'file' | 'line' | 'column'>;

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** What is said of the names that refuse keys other than UUIDs. */
const SAYINGS: Readonly<Record<string, string>> = {
  ParseUUIDPipe: 'refuses every key that is a number: use ParseIdPipe',
  IsUUID: 'refuses every key that is a number: use @IsSnowflake()',
};

/** Finds the code that needs UUIDs: pipes, validators and literal UUIDs, in the order of files. */
export function uuidCode(project: Project): BreakingCode[] {
  const { ts } = project;
  return search(project, (node, file) => {
    const isImported = ts.isImportSpecifier(node.parent ?? node);
    const why = ts.isStringLiteralLike(node)
      ? UUID.test(node.text)
        ? 'is a UUID: a query for it fails, or finds no row, when keys are numbers'
        : undefined
      : ts.isIdentifier(node) && !isImported
        ? SAYINGS[node.text]
        : undefined;
    return why === undefined ? undefined : { code: node.getText(file), why };
  });
}

/** A place that lets TypeORM change the tables to fit the entities, or may: `synchronize: !isProd`. */
export interface Synchronizing extends Pick<Place, 'file' | 'line'> {
  readonly code: string;
}

/**
 * Finds every place that sets `synchronize` to anything but `false`, or calls `dataSource.synchronize()`, in the order of
 * files.
 */
export function synchronizeSettings(project: Project): Synchronizing[] {
  const { ts } = project;
  const isFalse = (value: TypeScript.Expression): boolean => value.kind === ts.SyntaxKind.FalseKeyword;
  const isNamed = (name: TypeScript.Node, file: TypeScript.SourceFile): boolean =>
    name.getText(file).replace(/['"]/g, '') === 'synchronize';
  const isMember = (node: TypeScript.Expression, file: TypeScript.SourceFile): boolean =>
    ts.isPropertyAccessExpression(node) && isNamed(node.name, file);
  const found = search(project, (node, file) => {
    const isOne =
      (ts.isPropertyAssignment(node) && isNamed(node.name, file) && !isFalse(node.initializer)) ||
      (ts.isShorthandPropertyAssignment(node) && isNamed(node.name, file)) ||
      (ts.isBinaryExpression(node) &&
        node.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
        isMember(node.left, file) &&
        !isFalse(node.right)) ||
      (ts.isCallExpression(node) && isMember(node.expression, file));
    return isOne ? { code: node.getText(file).replace(/\s+/g, ' ') } : undefined;
  });
  return found.map(({ file, line, code }) => ({ file, line, code }));
}

/** Whether a place lets TypeORM change the tables of every environment. */
export function alwaysSynchronizes({ code }: Synchronizing): boolean {
  return /^['"]?synchronize['"]?: true$/.test(code);
}

/** What is said of these places, below the advice to set `synchronize: false`. */
export function synchronizeRemarks(found: readonly Synchronizing[] | null): string[] {
  return (found ?? []).map(
    ({ file, line, code }) => `${file}:${line} ${code}: this must be false wherever these tables are`,
  );
}

/** A place where an application makes a DataSource without importing Raindrop, such as a seed with a module of its own. */
export type LoneDataSource = Pick<Place, 'file' | 'line'>;

/** Finds the first such place of each file that does not mention Raindrop. */
export function loneDataSources(project: Project): LoneDataSource[] {
  const { ts } = project;
  const files = project.files.filter(({ text }) => !/\bRaindropModule\b|\battach(IdService)?\(/.test(text));
  const found = search({ ...project, files }, (node, file) => {
    const isOne =
      (ts.isCallExpression(node) && /\bTypeOrmModule\.forRoot(Async)?$/.test(node.expression.getText(file))) ||
      (ts.isNewExpression(node) && node.expression.getText(file) === 'DataSource');
    return isOne ? {} : undefined;
  });
  return found.filter(({ file }, at) => found[at - 1]?.file !== file).map(({ file, line }) => ({ file, line }));
}

/** Finds all nodes for which the judge returns something, with their places. */
function search<Found extends object>(
  { ts, folder, files }: Project,
  judge: (node: TypeScript.Node, file: TypeScript.SourceFile) => Found | undefined,
): (Found & Place)[] {
  return files.flatMap((file) => {
    const found: (Found & Place)[] = [];
    const visit = (node: TypeScript.Node): void => {
      const what = judge(node, file);
      if (what !== undefined) {
        const { line, character } = file.getLineAndCharacterOfPosition(node.getStart(file));
        found.push({ file: relative(folder, file.fileName), line: line + 1, column: character + 1, ...what });
      }
      ts.forEachChild(node, visit);
    };
    ts.forEachChild(file, visit);
    return found;
  });
}
