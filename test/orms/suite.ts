import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../support/processes/die-with-us.js';
import { run } from '../support/processes/run.js';
import { issuingDatabase } from '../support/servers/id-function.js';
import type { DatabaseKind } from '../support/servers/test-databases.js';
import type { Cells } from './matrix.js';
import { UPSERTS } from './upserts.js';

const DEADLINE_MS = 120_000;

/**
 * Runs a compiled script of `test/orms/<orm>` as an application: by plain `node`, on the packed libraries that `npm run
 * build:orm` has laid beside the ORM.
 * @param given what the script finds as JSON in `process.argv[2]`
 * @returns what its last line says, as JSON
 * @throws Error with all that it printed when it failed
 */
export async function runSuite<T>(orm: string, script: string, given: unknown = {}): Promise<T> {
  const { code, signal, stdout, stderr } = await run(suiteCommand(orm, script, given), { withinMs: DEADLINE_MS });
  if (code !== 0) throw new Error(`${orm} ${script} ended with ${signal ?? code}:\n${stdout}\n${stderr}`);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as T;
}

/** What becomes of each path on keys with `databaseDefault`; undefined for a database that has no such function. */
export async function runDeclared(
  [orm, script]: readonly [orm: string, script: string],
  kind: DatabaseKind,
  more: object = {},
): Promise<Cells | undefined> {
  if (kind !== 'postgres') return undefined;
  const { options, drop } = await issuingDatabase();
  try {
    const given = { database: options, upserts: UPSERTS, databaseDefault: true, ...more };
    return await runSuite<Cells>(orm, script, given);
  } finally {
    await drop();
  }
}

/** The command that {@link runSuite} runs. */
export function suiteCommand(orm: string, script: string, given: unknown): Command {
  return [nodeOf(orm), join(__dirname, orm, 'dist', `${script}.js`), JSON.stringify(given)];
}

/** The Node for an ORM. One may need a later Node than the workspace: its folder brings it, for where this one is too old. */
export function nodeOf(orm: string): string {
  return nodeIn(join(__dirname, orm));
}

const [major, minor] = process.versions.node.split('.').map(Number);
/** Whether this Node is too old for one of the ORMs. */
export const isOldNode = major! < 22 || (major === 22 && minor! < 17);
/** The package with a later one. */
export const OWN_NODE = `node-${process.platform}-${process.arch}`;

/** The Node for an application: {@link OWN_NODE} where this one is too old and the folder has it. */
export function nodeIn(folder: string): string {
  const own = join(folder, 'node_modules', OWN_NODE, 'bin/node');
  return isOldNode && existsSync(own) ? own : process.execPath;
}
