import { ClosedError, RaindropError, type LeaseEvent, type LeaseOptions } from '@raindrop/core';
import { resolveLeaseOptions, sessionAgesOf } from '@raindrop/core/internal';
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { resolveLayout } from '../../../libs/core/src/layout/layout-options.js';
import { openStore } from '../../support/stores/open-store.js';
import { PAIR_ACCOUNTS, type PairKind } from '../../support/servers/server-pair.js';
import { leasedIssuer, type LeasedIssuer } from '../../support/processes/leased-issuer.js';

/** What a process is started with. */
export interface IssuerSetup {
  readonly name: string;
  /** The engine that answers at `port` of 127.0.0.1. */
  readonly engine: PairKind;
  readonly port: number;
  /** How many worker rows there are. */
  readonly workers: number;
  readonly lease: LeaseOptions;
  /** Whether it is told when another server answers. */
  readonly marker: boolean;
  /** How much older than it may be a session may write, ms; undefined for the right age. */
  readonly sessionAgeBeyondMs?: number;
  /** Every ID goes here, eight bytes each, in the order in which they were issued. */
  readonly idsFile: string;
}

/** What a process is told. */
export type IssuerCommand = 'open' | 'close';

/** What a process tells. `refused`: it has asked for an ID after the end, and asks for none any more. */
export type IssuerReport = 'loaded' | 'closed' | 'refused' | LeaseEvent['type'] | { readonly failure: string };

/** The variable that holds the setup, as JSON. */
export const SETUP_VARIABLE = 'RAINDROP_TEST_ISSUER';

const BATCH = 16;
const PAUSE_MS = 3;

/** A process that issues IDs without a rest from the moment it is told to open until it has closed. */
class Issuer {
  private readonly issuer: LeasedIssuer;

  constructor(
    { name, engine, port, workers, lease, marker, sessionAgeBeyondMs = 0 }: IssuerSetup,
    private readonly file: number,
  ) {
    const resolved = resolveLayout(
      {
        timeUnit: 'millisecond',
        startTimeStamp: '2024-01-01',
        timeStampLength: 41,
        workIdLength: 5,
        serviceMaxWorkId: workers,
      },
      Date.now(),
    );
    const options = resolveLeaseOptions(lease);
    const { opTimeoutMs } = options;
    const database = { host: '127.0.0.1', port, ...PAIR_ACCOUNTS[engine] } as const;
    const onEvent = ({ type }: LeaseEvent): void => tell(type);
    const { reachMs, maxSessionAgeMs, renewSessionAfterMs } = sessionAgesOf(options);
    const guards = {
      reachMs,
      maxSessionAgeMs: maxSessionAgeMs + sessionAgeBeyondMs,
      renewSessionAfterMs: renewSessionAfterMs + sessionAgeBeyondMs,
    };
    const store = openStore(database, { opTimeoutMs, ...(marker ? guards : { reachMs: 0 }) });
    // Without a reach nothing is lost past the moment of the failover: only the rows' own odometers protect then.
    this.issuer = leasedIssuer(store, { name, resolved, lease: options, onEvent });
  }

  /** Asks for IDs before the start has ended, too: a process that may not issue yet must not. */
  open(): void {
    void this.issue();
    this.issuer.keeper.start().catch((error: unknown) => {
      // It may be told to close before the start has ended.
      if (!(error instanceof ClosedError)) tell({ failure: String(error) });
    });
  }

  async close(): Promise<void> {
    await this.issuer.keeper.close();
    tell('closed');
  }

  private async issue(): Promise<void> {
    const batch = new BigInt64Array(BATCH);
    for (;;) {
      try {
        this.issuer.generator.fill(batch);
        writeSync(this.file, batch);
      } catch (error) {
        if (!(error instanceof RaindropError)) throw error;
        // After the end nothing comes any more.
        if (!error.retryable) return tell('refused');
      }
      await sleep(PAUSE_MS);
    }
  }
}

function tell(report: IssuerReport): void {
  if (process.connected) process.send!(report);
}

function main(setup: IssuerSetup): void {
  const file = openSync(setup.idsFile, 'a');
  let issuer: Issuer | undefined;
  process.on('disconnect', () => process.exit());
  process.on('message', (command: IssuerCommand) => {
    if (command === 'close') void issuer?.close();
    else (issuer = new Issuer(setup, file)).open();
  });
  tell('loaded');
}

const given = process.env[SETUP_VARIABLE];
if (given !== undefined) main(JSON.parse(given) as IssuerSetup);
