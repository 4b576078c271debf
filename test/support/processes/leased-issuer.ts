import { StoreWorkerKeeper, SnowflakeGenerator, StoreSession } from '@raindrop/core/internal';
import type { LeaseEvent, ResolvedLayout, ResolvedLeaseOptions, WorkerStore } from '@raindrop/core';
import { systemPorts } from '../../../libs/node/src/system/system-ports.js';

/** One process, as far as a worker table can tell: a keeper and a generator over a store of their own. */
export interface LeasedIssuer {
  readonly keeper: StoreWorkerKeeper;
  readonly generator: SnowflakeGenerator;
}

export interface LeasedIssuerOptions {
  /** Its code, and whom the table names as the holder. */
  readonly name: string;
  readonly resolved: ResolvedLayout;
  readonly lease: ResolvedLeaseOptions;
  readonly onEvent?: (event: LeaseEvent) => void;
}

/** Makes an issuer with the real clock and real timers; it is not started yet. */
export function leasedIssuer(
  store: WorkerStore,
  { name, resolved, lease: options, onEvent }: LeasedIssuerOptions,
): LeasedIssuer {
  const ports = systemPorts('turn');
  const session = new StoreSession(store, ports.timers, options.opTimeoutMs);
  const identity = { code: name, holder: `${name}, pid ${process.pid}`, timeUnit: 1 };
  const keeper = new StoreWorkerKeeper({ resolved, options, identity, session, ports });
  if (onEvent !== undefined) keeper.onEvent(onEvent);
  const generator = new SnowflakeGenerator({ layout: resolved.layout, tenure: keeper }, ports);
  keeper.setHighestIssued((lane) => generator.highest(keeper, lane));
  return { keeper, generator };
}
