import { metrics, type Meter } from '@opentelemetry/api';

/** That of package.json, as a test makes sure: a bundler would leave the file behind. */
const VERSION = '0.1.0';

/** Raindrop's meter of the SDK that is registered now; one that does nothing while none is. */
export function defaultMeter(): Meter {
  return metrics.getMeter('@raindrop/nestjs', VERSION);
}
