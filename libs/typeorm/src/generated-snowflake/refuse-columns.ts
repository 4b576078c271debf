import type { DataSource } from 'typeorm';
import { wallClock } from '@raindrop/core/internal';
import { report, type EntityLint } from './entity-lint.js';
import { findColumns } from './find-columns.js';
import { lintColumns } from './lint-columns.js';
import type { SnowflakeSource } from './snowflake-source.js';

/**
 * Refuses entities that cannot work before their service takes a worker id: once it has one, its table remembers the
 * layout. Warnings are left to `attachSnowflakes`, which looks at all columns anyway.
 * @throws EntityLintError
 */
export function refuseColumns(
  dataSource: DataSource,
  service: Pick<SnowflakeSource, 'name' | 'layout'>,
  lint: EntityLint,
): void {
  if (lint.mode !== 'error') return;
  const { generated, references } = findColumns(dataSource, service);
  const problems = lintColumns(dataSource, generated, references, wallClock.now());
  report(
    problems.filter(({ severity }) => severity === 'error'),
    lint,
  );
}
