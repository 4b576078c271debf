import * as nest from '@nestjs/common';
import * as nestTesting from '@nestjs/testing';
import * as nestTypeorm from '@nestjs/typeorm';
import * as core from '@raindrop/core';
import * as raindrop from '@raindrop/nestjs';
import * as raindropTypeorm from '@raindrop/nestjs/typeorm';
import * as raindropTesting from '@raindrop/nestjs/testing';
import * as typeorm from 'typeorm';
import { readDocument, runBlock, typescriptBlocks } from './typescript-blocks.js';

/** Everything that the examples import. */
const IMPORTED = {
  ...nest,
  ...core,
  ...typeorm,
  ...nestTypeorm,
  ...nestTesting,
  ...raindrop,
  ...raindropTypeorm,
  ...raindropTesting,
  jest,
};

// Blocks that begin with a file's name are modules of those behind them; the others are tests, and are run as such here.
describe('docs/testing.md', () => {
  const scope: Record<string, unknown> = { ...IMPORTED };
  for (const block of typescriptBlocks(readDocument('docs/testing.md'))) Object.assign(scope, runBlock(block, scope));
});

describe('README.md, on testing', () => {
  const readme = readDocument('README.md');
  const use = /^@Injectable\(\)\nexport class Checkout [\s\S]*?^}$/m.exec(readme)![0];
  const section = /^## Testing a class that injects IdService\n[\s\S]*?(?=^## )/m.exec(readme)![0];
  const [block] = typescriptBlocks(section);
  runBlock(block!, { ...IMPORTED, ...runBlock(use, IMPORTED) });

  it('imports what there is', () => {
    const [, names] = /^import \{ (.*) \} from '@raindrop\/nestjs\/testing';$/m.exec(block!)!;
    for (const name of names!.split(', ')) expect(raindropTesting).toHaveProperty(name);
  });
});
