import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { workerStoreContract } from '@raindrop/node/testing';
import { PlainFileStore } from './plain-file-store.js';

const cases = workerStoreContract(() => {
  const folder = mkdtempSync(join(tmpdir(), 'own-store-'));
  return {
    open: () => new PlainFileStore(join(folder, 'workers'), 5_000),
    dispose: () => Promise.resolve(rmSync(folder, { recursive: true, force: true })),
  };
});

for (const { name, run } of cases) void test(name, { timeout: 60_000 }, run);
