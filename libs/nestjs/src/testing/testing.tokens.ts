import { DEFAULT_SERVICE } from '@raindrop/node/internal';
import { RaindropTestbed } from './raindrop-testbed.js';

/** Returns the token of a `RaindropTestbed`: the class itself for the default service, a string for a named one. */
export function getTestbedToken(name: string = DEFAULT_SERVICE): typeof RaindropTestbed | string {
  return name === DEFAULT_SERVICE ? RaindropTestbed : `RaindropTestbed:${name}`;
}
