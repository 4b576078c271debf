import { raindropHere } from './cli-in-process.js';

jest.mock('mysql2', () => {
  throw Object.assign(new Error("Cannot find module 'mysql2'"), { code: 'MODULE_NOT_FOUND' });
});
jest.mock('pg', () => {
  throw Object.assign(new Error("Cannot find module 'pg'"), { code: 'MODULE_NOT_FOUND' });
});

const LAYOUT = ['--start', '2026-01-01', '--timestamp-bits', '33', '--worker-bits', '3'];

describe.each([
  ['mysql', 'mysql2'],
  ['mariadb', 'mysql2'],
  ['postgres', 'pg'],
])('without the driver of %s', (type, packageName) => {
  it.each([
    [['workers']],
    [['init', ...LAYOUT]],
    [['next', ...LAYOUT]],
    [['doctor', ...LAYOUT]],
    [['adopt', '--table', 'orders']],
  ])('raindrop %j names the package, in the code of its error too', async (args) => {
    const common = [...args, '--url', `${type}://root@127.0.0.1:1/shop`, '--json'];
    const { code, stdout, stderr } = await raindropHere(common);
    expect([code, `${stdout}${stderr}`]).toEqual([1, expect.stringContaining(`npm install ${packageName} in your`)]);
    if (args[0] !== 'doctor')
      expect(JSON.parse(stderr.trim())).toMatchObject({ error: { code: 'DRIVER_NOT_INSTALLED' } });
  });
});
