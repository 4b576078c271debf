import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { supply } from './check-manager.mjs';
import { repository } from './pack-libraries.mjs';

const COMMAND_MS = 600_000;
/** The majors of the Nest CLI that make an application, and add to it. */
export const nestAddApps = [{ nest: 12 }, { nest: 11 }];

/** Saves an order with the entity that was added, and reads its ID. */
const SAVE = `import('./dist/app.module.js').then(async ({ AppModule }) => {
  const { NestFactory } = require('@nestjs/core');
  const { DataSource } = require('typeorm');
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
  const order = await app.get(DataSource).getRepository('Order').save({ customer: 'Ada' });
  console.log(JSON.stringify(order));
  await app.close();
});`;

/**
 * What `nest new` makes, with the tarballs in its vendor: `nest add @raindrop/nestjs` changes nothing with `--dry-run`,
 * then adds module, entity and migration. With the packages that it names the application compiles and saves an order.
 * `--skip-install` takes the place of the registry, which does not have the package yet.
 * @returns what is wrong
 */
export function checkNestAdd({ nest }, packed, directory) {
  const parent = join(directory, `nest-add-${nest}`);
  const folder = join(parent, 'shop');
  mkdirSync(parent);
  try {
    run(parent, 'npx', ['--yes', `@nestjs/cli@${nest}`, 'new', 'shop', '--package-manager', 'npm', '--skip-git']);
    supply(folder, packed);
    install(folder);

    const add = (...flags) =>
      run(folder, 'npx', ['--no', 'nest', 'add', '@raindrop/nestjs', '--skip-install', ...flags]);
    const before = sourcesOf(folder);
    add('--dry-run');
    assert.deepEqual(sourcesOf(folder), before, 'nest add --dry-run changed files');
    const printed = add();
    const added = Object.keys(sourcesOf(folder)).filter((name) => !(name in before));
    assert.deepEqual(
      added.map((name) => name.replace(/\d{13}/, 'TIME')),
      ['migrations/TIME-create-orders.ts', 'orders/order.entity.ts'],
    );
    assert.match(sourcesOf(folder)['app.module.ts'], /^ {4}RaindropModule\.forRoot\(\),$/m);
    assert.match(add(), /nothing was changed: the application already imports RaindropModule/);

    for (const [, command] of printed.matchAll(/next: npm pkg set '(.*)'$/gm))
      run(folder, 'npm', ['pkg', 'set', command]);
    const [, needed] = /next: npm install (.*)$/m.exec(printed);
    install(folder, ...needed.split(' '));
    run(folder, 'npm', ['run', 'build']);
    const { id } = JSON.parse(run(folder, process.execPath, ['-e', SAVE]));
    assert.match(id, /^\d{17,19}$/);
    return [];
  } catch (error) {
    return [error.message];
  }
}

/** As in install-app.mjs, without the minute that better-sqlite3 12 may take to compile. */
function install(folder, ...names) {
  run(folder, 'npm', ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', ...names]);
  const build = join('node_modules', 'better-sqlite3', 'build');
  if (existsSync(join(folder, 'node_modules/better-sqlite3')) && existsSync(join(repository, build))) {
    cpSync(join(repository, build), join(folder, build), { recursive: true });
  }
}

function sourcesOf(folder) {
  const src = join(folder, 'src');
  const files = readdirSync(src, { recursive: true }).filter((name) => name.endsWith('.ts'));
  return Object.fromEntries(files.sort().map((name) => [name, readFileSync(join(src, name), 'utf8')]));
}

function run(cwd, program, args) {
  const options = { cwd, encoding: 'utf8', timeout: COMMAND_MS, killSignal: 'SIGKILL', input: '' };
  const { status, signal, stdout, stderr } = spawnSync(program, args, options);
  assert.equal(status, 0, `${program} ${args.join(' ')} failed (${signal ?? `code ${status}`})\n${stdout}${stderr}`);
  return stdout;
}
