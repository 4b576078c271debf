import { openDoorWarning } from './open-door.js';

it.each<[string, 'workers' | 'all', boolean]>([
  ['0.0.0.0', 'workers', true],
  ['::', 'workers', true],
  ['0:0:0:0:0:0:0:0', 'workers', true],
  ['::', 'all', false],
  ['0.0.0.0', 'all', false],
  ['127.0.0.1', 'workers', false],
  ['::1', 'workers', false],
  ['192.0.2.1', 'workers', false],
])('HOST=%s with API_KEYS_FOR=%s is warned of: %s', (host, apiKeysFor, isWarned) => {
  const warning = openDoorWarning({ host, apiKeysFor });
  expect(warning !== undefined).toBe(isWarned);
  if (isWarned) expect(warning).toMatch(/^HOST=.*API_KEYS_FOR=all/);
});
