import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './pack-libraries.mjs';

const RUN_MS = 30_000;
const EXIT_MS = 5_000;
/** What a user's app brings itself, in the versions this repository is tested with. */
const COMPANIONS = [
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/platform-fastify',
  '@nestjs/typeorm',
  'better-sqlite3',
  'reflect-metadata',
  'rxjs',
  'typeorm',
];

/** A fresh CommonJS app outside the workspace installs the tarballs, issues an id, closes and ends by itself. */
export async function checkApp(packages, directory) {
  const app = join(directory, 'app');
  mkdirSync(app);
  install(app, packages);
  copyFileSync(join(import.meta.dirname, 'app.cjs'), join(app, 'main.js'));
  return run(app);
}

function install(app, packages) {
  const dependencies = Object.fromEntries([
    ...packages.map(({ manifest, tarball }) => [manifest.name, `file:${tarball}`]),
    ...COMPANIONS.map((name) => [name, versionHere(name)]),
  ]);
  writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, dependencies }, null, 2));
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  execFileSync('npm', ['install', ...flags], { cwd: app, stdio: ['ignore', 'ignore', 'inherit'] });
  // --ignore-scripts spares the minute that better-sqlite3 may take to compile: the repository's build is the same.
  const build = join('node_modules', 'better-sqlite3', 'build');
  cpSync(join(repository, build), join(app, build), { recursive: true });
}

function versionHere(name) {
  return JSON.parse(readFileSync(join(repository, 'node_modules', name, 'package.json'), 'utf8')).version;
}

function run(app) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['main.js'], { cwd: app, stdio: ['ignore', 'pipe', 'pipe'] });
    const problems = [];
    let output = '';
    const giveUp = (problem) => {
      problems.push(problem);
      child.kill('SIGKILL');
    };
    let timer = setTimeout(() => giveUp(`the app did not close within ${RUN_MS} ms`), RUN_MS);
    const hear = (chunk) => {
      const wasClosed = hasClosed(output);
      output += chunk;
      if (!wasClosed && hasClosed(output)) {
        clearTimeout(timer);
        timer = setTimeout(() => giveUp(`the app was closed, but did not end within ${EXIT_MS} ms`), EXIT_MS);
      }
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('close', (code) => {
      clearTimeout(timer);
      if (problems.length === 0 && code !== 0) {
        problems.push(`the app ended with code ${code}`);
      }
      if (!/^id \d+$/m.test(output)) {
        problems.push('the app printed no id');
      }
      resolve(problems.length === 0 ? [] : [...problems, `the app's output:\n${output.trim()}`]);
    });
  });
}

function hasClosed(output) {
  return /^closed$/m.test(output);
}
