import { randomBytes } from 'node:crypto';
import { transpileModule, ScriptTarget } from 'typescript';
import { ConfigurationError } from '@raindrop/core';
import { IsSnowflake } from '../class-validator.js';
import { PublicId, publicIds } from '../public-ids.js';
import { ApiSnowflake } from '../swagger.js';

const codec = publicIds({ keys: { k1: randomBytes(32).toString('hex') }, current: 'k1', purpose: 'order' });

describe('decorators of properties', () => {
  it.each([
    ['@PublicId()', PublicId(codec)],
    ['@IsSnowflake()', IsSnowflake()],
    ['@ApiSnowflake()', ApiSnowflake()],
  ])('%s says that the compiler lacks experimentalDecorators', (name, decorator) => {
    const run = (experimentalDecorators: boolean): void => {
      const compilerOptions = { target: ScriptTarget.ES2022, experimentalDecorators };
      const { outputText } = transpileModule('class Order { @decorator id!: string; }', { compilerOptions });
      // The text that the compiler wrote is what is to be run here.
      // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call
      new Function('decorator', outputText)(decorator);
    };
    expect(() => run(false)).toThrow(ConfigurationError);
    expect(() => run(false)).toThrow(name);
    expect(() => run(false)).toThrow(/experimentalDecorators.* tsconfig\.json/);
    expect(() => run(true)).not.toThrow();
  });
});
