import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { usualPort } from './answers-as-shown.js';

const ROOT = resolve(__dirname, '../../..');
const EXAMPLES = readdirSync(join(ROOT, 'examples')).map((name) => `examples/${name}/README.md`);
const SERVICE_PORT = '3000';

it('the service, the shop and each example have ports of their own, which their documents show', () => {
  const shown = ['apps/demo/README.md', ...EXAMPLES].map((document) => {
    const ports = [...readFileSync(join(ROOT, document), 'utf8').matchAll(/127\.0\.0\.1:(\d+)|\bPORT=(\d+)/g)];
    const all = [...new Set(ports.map(([, inUrl, set]) => inUrl ?? set!))];
    expect(all).toContain(usualPort(document));
    return all;
  });
  const taken = [SERVICE_PORT, ...shown.flat()];
  expect(taken.length).toBeGreaterThan(8);
  expect(new Set(taken).size).toBe(taken.length);
});
