// The two sides of the HTTP question, each a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SERVICE = fileURLToPath(new URL('../../dist/apps/id-service/main.js', import.meta.url));
const BARE = fileURLToPath(new URL('./http-bare.mjs', import.meta.url));

/** The built service on SQLite, in a directory of its own. */
export async function startServiceProcess() {
  if (!existsSync(SERVICE)) throw new Error('The service is not built: npm run build');
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-bench-'));
  const removeDirectory = () => rmSync(directory, { recursive: true, force: true });
  try {
    const { url, stop } = await start([SERVICE], directory);
    return { url, stop: () => stop().finally(removeDirectory) };
  } catch (error) {
    removeDirectory();
    throw error;
  }
}

/** @param answer `{ headers, body }` */
export function startBare(answer) {
  return start([BARE, JSON.stringify(answer)], tmpdir());
}

async function start(args, cwd) {
  const environment = { ...process.env, PORT: '0', DATABASE_URL: '', HOST: '' };
  const child = spawn(process.execPath, args, { cwd, env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGINT');
    await ended;
  };
  const url = await new Promise((resolve, reject) => {
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(printed);
      if (found !== null) resolve(found[0]);
    });
    ended.then(() => reject(new Error(`${args[0]} ended before it listened`)), reject);
  });
  return { url, stop };
}
