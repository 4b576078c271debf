import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf } from '../docs/documents.js';
import { shellCommands } from '../docs/shell-commands.js';
import { differences } from '../docs/shown-answer.js';
import { readDocument, typescriptBlocks } from '../docs/typescript-blocks.js';
import { runOrThrow } from './run-or-throw.js';

/** From an empty folder to a saved order may take so long. */
const DEADLINE_S = 300;

/** The line of the README that installs the packages; it says which module of TypeORM older Nests need. */
function installLine(nest: number): string {
  const text = readDocument('README.md#install');
  const line = /`(npm install [^`]+)`/.exec(text)?.[1];
  const older = /With Nest 10 and 11 it is\s+`(@nestjs\/typeorm@11)`/.exec(text)?.[1];
  if (line === undefined || older === undefined) throw new Error('README.md#install does not say what to install');
  return nest < 12 ? line.replace(/@nestjs\/typeorm\b/, older) : line;
}

/** What docs/versions.md says for SQLite on this Node: the command that comes first, and the driver. */
function sqliteCommands(): [override: string, driver: string] {
  const commands = shellCommands(['docs/versions.md']).map(({ command }) => command);
  const override = commands.find((each) => each.includes("'overrides.typeorm"));
  const driver = commands.map((each) => /^npm install typeorm (\S+)$/.exec(each)?.[1]).find(Boolean);
  if (override === undefined || driver === undefined)
    throw new Error('docs/versions.md does not say how to install SQLite');
  return [override, driver];
}

/** The README's example, as `main.ts` of an application whose files are CommonJS: what waits stands in a function. */
function inFunction(example: string): string {
  const at = example.indexOf('const app = await');
  return `${example.slice(0, at)}async function bootstrap() {\n${example.slice(at)}}\nvoid bootstrap();\n`;
}

/**
 * Follows the README alone, in a fresh application: `nest new`, its line of installation, its example in `main.ts`,
 * `npm start`. The order that it prints has to be the one that the README shows.
 * @returns what each step took, s
 */
export async function firstOrder(
  nest: 11 | 12,
  parent: string,
  environment: Readonly<Record<string, string>>,
): Promise<Record<string, number>> {
  const seconds: Record<string, number> = {};
  const timed = async (name: string, command: string, folder: string): Promise<string> => {
    const began = performance.now();
    const output = await runOrThrow(command, folder, environment);
    seconds[name] = Math.round((performance.now() - began) / 1_000);
    return output;
  };
  const [override, driver] = sqliteCommands();
  await timed('nest new', `npx --yes @nestjs/cli@${nest} new shop --package-manager npm --skip-git`, parent);
  const shop = join(parent, 'shop');
  await timed('npm install', `${override} && ${installLine(nest)} ${driver}`, shop);
  const [example] = typescriptBlocks(readDocument('README.md#use'));
  const isEsm = (JSON.parse(readFileSync(join(shop, 'package.json'), 'utf8')) as { type?: string }).type === 'module';
  writeFileSync(join(shop, 'src/main.ts'), isEsm ? example! : inFunction(example!));
  const output = await timed('npm start', 'npm start', shop);
  const order = output.split('\n').find((line) => line.startsWith('{"customer"'));
  const shown = blocksOf('README.md').find(({ text }) => text.startsWith('{"customer"'))!.text;
  const wrong = order === undefined ? ['nothing was printed'] : differences(JSON.parse(shown), JSON.parse(order));
  if (wrong.length > 0) throw new Error(`the README's example prints otherwise: ${wrong.join('; ')}`);
  const total = Object.values(seconds).reduce((sum, each) => sum + each, 0);
  if (total > DEADLINE_S) throw new Error(`from nothing to a saved order took ${total} s, more than ${DEADLINE_S}`);
  return seconds;
}
