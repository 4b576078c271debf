import { fileCalls, type FileCalls } from '../../../libs/node/src/state-file/state-directory.js';

/** The real calls, each of which first passes a gate. */
export function gatedFiles(gate: (call: keyof FileCalls) => Promise<void>): FileCalls {
  const gated = Object.entries(fileCalls).map(([name, call]: [string, (...args: never[]) => Promise<unknown>]) => [
    name,
    async (...args: never[]) => {
      await gate(name as keyof FileCalls);
      return call(...args);
    },
  ]);
  return Object.fromEntries(gated) as FileCalls;
}
