import { ConfigurationError, type WorkerIdAssigner } from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '../options/snowflake-options.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { openDisposableAssigner } from './open-disposable-assigner.js';
import type { AssignerClass, AssignerUse } from '../options/assigner-use.js';
import { IpAssigner } from './ip-assigner.js';
import { MachineAssigner } from './machine-assigner.js';
import type { ReservingAssigner } from '../ports/reserving-assigner.js';
import { StatefulSetAssigner } from './stateful-set-assigner.js';
import { StaticAssigner } from './static-assigner.js';

/** Makes an application's own assigner, with what is injected into it where something injects. */
export type MakeCustom = (assigner: AssignerClass) => Promise<WorkerIdAssigner>;

const GUARANTEES = ['fresh', 'exclusive', 'declared', 'unsafe'];

/** An assigner that keeps no odometers. @throws ConfigurationError for a class whose objects are none */
export async function makeAssigner(
  use: Exclude<AssignerUse, 'database' | ReservingAssigner>,
  context: {
    readonly options: ResolvedSnowflakeOptions;
    readonly database: SqlDatabase | undefined;
    readonly makeCustom: MakeCustom;
  },
): Promise<WorkerIdAssigner> {
  switch (use) {
    case 'static':
      return new StaticAssigner(context.options.assigner.staticWorkerId);
    case 'disposable':
      return openDisposableAssigner(context.options, context.database);
    case 'statefulSet':
      return new StatefulSetAssigner();
    case 'ip':
      return new IpAssigner();
    case 'machine':
      return new MachineAssigner();
    default:
      return checked(typeof use === 'function' ? await makeOwn(use, context.makeCustom) : use);
  }
}

async function makeOwn(assigner: AssignerClass, make: MakeCustom): Promise<WorkerIdAssigner> {
  try {
    return await make(assigner);
  } catch (error) {
    const message = `could not be made: ${error instanceof Error ? error.message : 'something that is no Error was thrown'}`;
    throw new ConfigurationError([{ option: 'workerIdAssigner', given: assigner.name, message }]);
  }
}

function checked(assigner: WorkerIdAssigner): WorkerIdAssigner {
  const { name, guarantee } = assigner;
  if (typeof name === 'string' && name !== '' && GUARANTEES.includes(guarantee)) return assigner;
  const message = `must have a name and a guarantee, one of ${GUARANTEES.join(', ')}: a WorkerIdAssigner`;
  throw new ConfigurationError([{ option: 'workerIdAssigner', given: assigner.constructor.name, message }]);
}
