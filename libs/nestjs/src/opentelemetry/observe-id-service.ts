import type { Meter } from '@opentelemetry/api';
import type { IssuedByCodeOptions } from '@raindrop/core';
import type { IdService } from '../id.service.js';
import { defaultMeter } from './default-meter.js';
import { IdServiceObservation } from './id-service-observation.js';

/** The options say where a service's metrics go, and which codes have a label of their own. */
export interface IdServiceMetricsOptions extends IssuedByCodeOptions {
  /** Default: the meter `@raindrop/nestjs` of the SDK that is registered at the moment. */
  readonly meter?: Meter;
}

/** What is observed already, and by how many. */
const running = new WeakMap<IdService, Map<Meter, { readonly observation: IdServiceObservation; users: number }>>();

/**
 * Registers a service's metrics with OpenTelemetry: its counters are read when the SDK collects, and issuing IDs pays
 * nothing for it. `docs/operations.md` lists the instruments.
 *
 * Without an SDK nothing happens, also not when one is registered later: register it first. A service that is observed
 * already by the same meter is not observed twice; the options of the first call hold.
 * @returns ends it, once everybody who asked for it has ended it; the SDK may go on to export the last values
 * @throws ConfigurationError naming every option that is wrong
 */
export function observeIdService(ids: IdService, options: IdServiceMetricsOptions = {}): () => void {
  const { meter = defaultMeter(), ...codes } = options;
  const byMeter = running.get(ids) ?? new Map<Meter, { observation: IdServiceObservation; users: number }>();
  const entry = byMeter.get(meter) ?? { observation: new IdServiceObservation(ids, meter, codes), users: 0 };
  running.set(ids, byMeter.set(meter, entry));
  entry.users++;
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    if (--entry.users > 0) return;
    byMeter.delete(meter);
    entry.observation.stop();
  };
}
