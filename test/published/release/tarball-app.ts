import { mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { shellCommands } from '../docs/shell-commands.js';
import { hasPacked } from './packed.js';
import { runOrThrow } from './run-or-throw.js';

const ROOT = resolve(__dirname, '../../..');

/** The commands of the README for as long as nothing is published: one packs, one installs, here without its peers. */
function commandsOfReadme(): [pack: string, install: string] {
  const found = shellCommands(['README.md']).map(({ command }) => command.replace(/ +#.*$/, ''));
  const pack = found.find((command) => command.endsWith('npm run pack'));
  const [install] = found.flatMap((command) => /^npm install \S+\.tgz\b/.exec(command)?.[0] ?? []);
  if (pack === undefined || install === undefined) throw new Error('the README does not say how to pack and install');
  return [pack, install];
}

/** Runs the first of them, here; what `npm ci` fetches is there already. */
export async function packAsReadmeSays(): Promise<void> {
  await runOrThrow(commandsOfReadme()[0].replace(/^npm ci && /, ''), ROOT);
}

/** Runs the second one in an empty project beside the repository, and uses what it has installed. */
export async function installAsReadmeSays(parent: string, scope: string): Promise<void> {
  const project = join(parent, 'project');
  mkdirSync(project);
  symlinkSync(ROOT, join(parent, 'raindrop'));
  await runOrThrow('npm init -y', project);
  await runOrThrow(commandsOfReadme()[1], project, { npm_config_prefer_offline: 'true' });
  hasPacked(
    project,
    ['core', 'node', 'typeorm', 'orm', 'nestjs', 'cli'].map((name) => `${scope}/${name}`),
  );
  await runOrThrow(`node -e "require('${scope}/nestjs').RaindropModule.forRoot"`, project);
  await runOrThrow('npx --no-install raindrop --version', project);
}
