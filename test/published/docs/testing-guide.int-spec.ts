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
