import type { Measurement } from '../figures/figure.js';
import type { Proof } from './proof.js';
import { runScript } from './run-script.js';

/** Outages, crashes, handovers, crowds: what is promised in numbers. */
export const figuresProof: Proof = {
  name: 'figures',
  async run() {
    const { answer, command } = await runScript<Measurement[]>('figures', 'test/proof/figures/figures.ts', []);
    return answer.map(({ figure, database, ...rest }) => ({ what: `${figure}, ${database}`, ...rest, command }));
  },
};
