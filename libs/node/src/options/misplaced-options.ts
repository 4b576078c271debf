import type { OptionReader } from '@raindrop/core/internal';

/** What makes a snowflake what it is. */
const OF_SNOWFLAKES = [
  ...['layout', 'timeUnit', 'startTimeStamp', 'timeStampLength', 'workIdLength', 'endBitsLength', 'endBitsValue'],
  ...['serviceMinWorkId', 'serviceMaxWorkId', 'timeBackBitValue', 'workerIdAssigner', 'workerId', 'leaseMs'],
  ...['stateFile', 'restartWaitMs'],
];

/** What numbers from segments come from. */
const OF_SEGMENTS = ['codes', 'defaultCode', 'autoCreateCode', 'defaultStep', 'maxStep', 'sharded', 'redis'];

/** Options in the wrong place: they would be ignored, and whoever wrote them believes otherwise. */
export function refuseMisplaced(reader: OptionReader, idMode: 'snowflake' | 'numberSection'): void {
  const [others, theirMode] =
    idMode === 'snowflake' ? ([OF_SEGMENTS, 'numberSection'] as const) : ([OF_SNOWFLAKES, 'snowflake'] as const);
  for (const option of others) refuse(reader, option, `is for idMode: '${theirMode}', and this one is '${idMode}'`);
}

/** Refuses an option that is given. */
export function refuse(reader: OptionReader, option: string, message: string): void {
  const given = reader.value(option);
  if (given === undefined) return;
  // A URL may hold a password, and so may what a buffer is made of.
  const shown = option === 'dbConfig' || option === 'redis' ? '(hidden)' : given;
  reader.problem(option, shown, message);
}
