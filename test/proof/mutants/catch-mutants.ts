import { MUTANTS as RULES } from '../simulation/mutants.js';
import globalSetup from '../../support/jest/global-setup.js';
import globalTeardown from '../../support/jest/global-teardown.js';
import type { Mutant } from './mutant.js';
import { MUTANTS } from './mutants.js';
import { PlantedSources } from './planted-sources.js';
import { runTests } from './run-tests.js';
import { SIMULATION, type ShownMutant } from './show-mutants.js';

/** A fault that was planted, and whether a test has noticed. */
export interface CaughtMutant extends ShownMutant {
  readonly isCaught: boolean;
}

const SIMULATED = 'The simulation finds it when this is broken';

/**
 * Plants one fault after the other in a copy of the sources, and runs the test that must notice it. The same tests must
 * pass before, where nothing is planted.
 * @param names which; default all
 * @throws Error when one of the tests fails or is missing without a fault
 */
export async function catchMutants(
  names: readonly string[] = [],
  tell: (caught: CaughtMutant) => void = () => undefined,
): Promise<CaughtMutant[]> {
  const isWanted = ({ name }: { name: string }): boolean => names.length === 0 || names.includes(name);
  const rules = Object.entries(RULES).map(([name, { rule }]) => ({ name, rule }));
  const wanted = MUTANTS.filter(isWanted);
  const sources = new PlantedSources();
  const all: CaughtMutant[] = [];
  const note = (caught: CaughtMutant): void => (all.push(caught), tell(caught));
  // Every run of jest uses the servers that are found or started here.
  await globalSetup();
  try {
    if (rules.some(isWanted)) {
      // The simulation breaks its rules by itself: a test that passes has noticed.
      const { passed } = await runTests(sources.directory, [SIMULATION], SIMULATED);
      for (const { name, rule } of rules.filter(isWanted)) {
        const isCaught = passed.some((test) => test.endsWith(`(${name})`));
        note({ name, breaks: rule, tier: 1, spec: SIMULATION, isCaught });
      }
    }
    if (wanted.length > 0) await expectPassing(sources, wanted);
    for (const mutant of wanted) {
      const run = (): ReturnType<typeof runTests> => runTests(sources.directory, [mutant.spec], mutant.test);
      const { failed } = await sources.with(mutant, run);
      note({ ...mutant, isCaught: failed.length > 0 });
    }
    return all;
  } finally {
    sources.remove();
    await globalTeardown();
  }
}

async function expectPassing(sources: PlantedSources, mutants: readonly Mutant[]): Promise<void> {
  const specs = [...new Set(mutants.map(({ spec }) => spec))];
  const pattern = mutants.map(({ test }) => test).join('|');
  const { passed, failed, reasons } = await runTests(sources.directory, specs, pattern);
  if (failed.length > 0) throw new Error(`these fail without a fault:\n${reasons.join('\n\n')}`);
  const idle = mutants.filter(({ test }) => !passed.some((name) => new RegExp(test).test(name)));
  if (idle.length > 0) throw new Error(`no test has these names:\n${idle.map(({ test }) => test).join('\n')}`);
}
