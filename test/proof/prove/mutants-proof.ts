import type { CaughtMutant } from '../mutants/catch-mutants.js';
import type { Proof } from './proof.js';
import { runScript } from './run-script.js';

/** One fault after the other in the sources: a test of `npm test` notices each. */
export const mutantsProof: Proof = {
  name: 'mutants',
  async run() {
    const { answer, command } = await runScript<CaughtMutant[]>('mutants', 'test/proof/mutants/run-mutants.ts', []);
    const missed = answer.filter(({ isCaught }) => !isCaught).map(({ name }) => name);
    const measured = [String(answer.length - missed.length), ...missed.map((name) => `not ${name}`)].join(', ');
    const what = 'planted faults that the named test catches (control)';
    return [{ what, target: `all ${answer.length}`, measured, ok: missed.length === 0, command }];
  },
};
