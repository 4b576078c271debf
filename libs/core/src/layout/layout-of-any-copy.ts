import { Layout } from './layout.js';

/**
 * Returns a layout that was given, or, where another copy of this package has made it, the same one of this copy's class.
 * @returns undefined for what is no layout, and for one that this version cannot hold
 */
export function layoutOfAnyCopy(given: unknown): Layout | undefined {
  if (given instanceof Layout) return given;
  try {
    // Fields, unit and epoch are public, and all that makes a layout.
    const foreign = given as Layout;
    const layout = new Layout(foreign);
    return layout.fingerprint === foreign.fingerprint ? layout : undefined;
  } catch {
    return undefined;
  }
}
