import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfigFile } from './config-file.js';

describe('A file of options', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'raindrop-config-'));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  it('is read as JSON and as a module', () => {
    writeFileSync(join(folder, 'a.json'), '{"layout":"number"}');
    writeFileSync(join(folder, 'a.cjs'), 'module.exports = { layout: "number" }');
    for (const name of ['a.json', 'a.cjs']) expect(readConfigFile(join(folder, name))).toEqual({ layout: 'number' });
  });

  it.each(['pipe', 'pipe.json'])('that is a pipe (%s) is refused at once, with or without a writer', (name) => {
    const pipe = join(folder, name);
    execFileSync('mkfifo', [pipe]);
    expect(() => readConfigFile(pipe)).toThrow(/is a pipe or a device: write the options to a/);
  });

  it('that is a device is refused as well', () => {
    expect(() => readConfigFile('/dev/zero')).toThrow(/is a pipe or a device/);
  });

  it('that is larger than 1 MiB is refused before it is read', () => {
    const large = join(folder, 'large.json');
    writeFileSync(large, '');
    truncateSync(large, 2 ** 40);
    expect(() => readConfigFile(large)).toThrow(/larger than 1 MiB/);
  });
});
