import type { Circus } from '@jest/types';
import { TestEnvironment } from 'jest-environment-node';
import { keepCompiledCode } from './compiled-code';
import { disableContexts, noteContexts } from './left-contexts';
import { isMissingForTests, MissingForTests } from './missing-for-tests';
import { noteLeftOut } from '../servers/run-ledger';

keepCompiledCode();
noteContexts();

/**
 * Node's environment, in which a test that met something missing is left out (`skipped`) and noted for the run's last
 * lines. What its hooks say then, which work on what was never made, says nothing. With RAINDROP_TEST_REQUIRE=all it
 * fails.
 */
export default class MissingEnvironment extends TestEnvironment {
  private readonly lacking = new WeakSet<Circus.DescribeBlock>();

  handleTestEvent(event: Circus.Event, state: Circus.State): void {
    if (process.env['RAINDROP_TEST_REQUIRE'] === 'all') return;
    if (event.name === 'test_done') this.leaveOut(event.test);
    if (event.name === 'hook_failure' && event.hook.type === 'afterAll' && this.lacks(event.describeBlock)) {
      state.unhandledErrors.pop();
    }
  }

  override async teardown(): Promise<void> {
    await super.teardown();
    disableContexts();
  }

  private leaveOut(test: Circus.TestEntry): void {
    const missing = test.errors.flat().find((error): error is MissingForTests => isMissingForTests(error));
    if (missing === undefined) return;
    noteLeftOut(missing);
    test.errors = [];
    test.status = 'skip';
    for (let block: Circus.DescribeBlock | undefined = test.parent; block !== undefined; block = block.parent) {
      this.lacking.add(block);
    }
  }

  private lacks(block: Circus.DescribeBlock | undefined): boolean {
    return block !== undefined && this.lacking.has(block);
  }
}
