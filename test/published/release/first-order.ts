import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf } from '../docs/documents.js';
import { shellCommands } from '../docs/shell-commands.js';
import { differences } from '../docs/shown-answer.js';
import { readDocument, typescriptBlocks } from '../docs/typescript-blocks.js';
import { releaseDayCommand } from './release-day.js';
import { runOrThrow } from './run-or-throw.js';

/** From an empty folder to a saved order may take so long. */
const DEADLINE_S = 300;

/** The README's commands that install everything for SQLite; ours come as on the day of the release. */
function installCommands(nest: number): string {
  const commands = shellCommands(['README.md']).map(({ command }) => command);
  const override = commands.find((each) => each.startsWith('npm pkg set '));
  const install = commands.find((each) => each.includes('@nestjs/typeorm@12 '));
  if (override === undefined || install === undefined)
    throw new Error('README.md#install does not say what to install');
  return `${override} && ${install.replace('typeorm@12', `typeorm@${nest}`)} && ${releaseDayCommand()}`;
}

/**
 * Follows the README alone, in a fresh application: `nest new`, its installation, its example in `main.ts`,
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
  await timed('nest new', `npx --yes @nestjs/cli@${nest} new shop --package-manager npm --skip-git`, parent);
  const shop = join(parent, 'shop');
  await timed('npm install', installCommands(nest), shop);
  const [example] = typescriptBlocks(readDocument('README.md#use'));
  writeFileSync(join(shop, 'src/main.ts'), example!);
  const output = await timed('npm start', 'npm start', shop);
  const order = output.split('\n').find((line) => line.startsWith('{"customer"'));
  const shown = blocksOf('README.md').find(({ text }) => text.startsWith('{"customer"'))!.text;
  const wrong = order === undefined ? ['nothing was printed'] : differences(JSON.parse(shown), JSON.parse(order));
  if (wrong.length > 0) throw new Error(`the README's example prints otherwise: ${wrong.join('; ')}`);
  const total = Object.values(seconds).reduce((sum, each) => sum + each, 0);
  if (total > DEADLINE_S) throw new Error(`from nothing to a saved order took ${total} s, more than ${DEADLINE_S}`);
  return seconds;
}
