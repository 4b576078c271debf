import { createLayout } from '@raindrop/core';
import { SnowflakeGenerator } from '@raindrop/core/internal';
import { StaticTenure } from '../../../libs/core/src/generator/tenure.js';
import type { SnowflakeSource } from '../../../libs/typeorm/src/generated-snowflake/generated-column.js';
import { systemPorts } from '../../../libs/node/src/system/system-ports.js';

/** Past 2^53 since long ago. */
const layout = createLayout(
  { timeUnit: 'millisecond', startTimeStamp: '2024-01-01', timeStampLength: 41, workIdLength: 10, endBitsLength: 1 },
  Date.now(),
);

/** What a service is to columns, without a lease. */
export function snowflakeSource(name = 'default', changes: Partial<SnowflakeSource> = {}): SnowflakeSource {
  const generator = new SnowflakeGenerator({ layout, tenure: new StaticTenure(1) }, systemPorts('exact'));
  const source = {
    name,
    layout,
    nextId: () => generator.nextId(),
    nextIdAsync: () => generator.nextIdAsync(),
    ...changes,
  };
  return { nextString: (code) => source.nextId(code).toString(), ...source };
}

/** A service that has no ID until it is opened: inserts wait for it. */
export function waitingSource(name = 'default'): { readonly source: SnowflakeSource; readonly open: () => void } {
  const inner = snowflakeSource(name);
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const nextId = (): never => {
    throw Object.assign(new Error('none right now'), { retryable: true });
  };
  return {
    source: snowflakeSource(name, { nextId, nextIdAsync: () => opened.then(() => inner.nextIdAsync()) }),
    open: () => open(),
  };
}
