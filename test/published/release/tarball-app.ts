import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { shellCommands } from '../docs/shell-commands.js';
import { hasPacked } from './packed.js';
import { runOrThrow } from './run-or-throw.js';

const ROOT = resolve(__dirname, '../../..');

/** The README's command for as long as nothing is published. It packs for an application. */
function packCommand(): string {
  const found = shellCommands(['README.md']).find(({ command }) =>
    / npm run pack -- \.\.\/shop --write$/.test(command),
  );
  if (found === undefined) throw new Error('README.md#install does not say how to pack for an application');
  return found.command;
}

/** Makes a Nest application, and packs for it, here; what `npm ci` fetches is there already. */
export async function packAsReadmeSays(shop: string): Promise<void> {
  mkdirSync(shop);
  await runOrThrow('npm init -y && npm pkg set dependencies.@nestjs/core=11 dependencies.@nestjs/common=11', shop);
  await runOrThrow('npm pkg set dependencies.reflect-metadata=^0.2.2 dependencies.rxjs=^7.8.2', shop);
  await runOrThrow(
    packCommand()
      .replace(/^npm ci && /, '')
      .replace('../shop', shop),
    ROOT,
  );
}

/** Installs in it, and uses what it has installed. */
export async function installAsReadmeSays(shop: string, scope: string): Promise<void> {
  await runOrThrow('npm install', shop, { npm_config_prefer_offline: 'true' });
  hasPacked(
    shop,
    ['core', 'node', 'typeorm', 'nestjs', 'cli'].map((name) => `${scope}/${name}`),
  );
  await runOrThrow(`node -e "require('${scope}/nestjs').RaindropModule.forRoot"`, shop);
  await runOrThrow('npx --no-install raindrop --version', shop);
}
