/**
 * IDs for a Nest application inside a worker thread. `@raindrop/node/threads` has the ring.
 *
 * @module @raindrop/nestjs/threads
 */

import { type DynamicModule, Module } from '@nestjs/common';
import { ConfigurationError, type SharedIdRingHandle } from '@raindrop/core';
import { OptionReader, SharedIds } from '@raindrop/core/internal';
import { openSharedIds, type ThreadIdsOptions } from '@raindrop/node/threads';

/** The options of `RaindropThreadModule.forRoot`. */
export interface RaindropThreadOptions extends ThreadIdsOptions {
  /** The `handle` of the ring, from `workerData`: the thread that holds the worker id made the ring. */
  handle: SharedIdRingHandle;
  /** Makes `SharedIds` injectable everywhere. Default true. */
  isGlobal?: boolean;
}

/** Gives IDs to an application inside a worker thread: import it once, inject `SharedIds`. It needs no database. */
@Module({})
export class RaindropThreadModule {
  /** @throws ConfigurationError when `handle` is not that of a ring, and naming every option that is wrong */
  static forRoot(given: RaindropThreadOptions): DynamicModule {
    const reader = new OptionReader(given);
    const isGlobal = reader.boolean('isGlobal', true);
    if (reader.problems.length > 0) throw new ConfigurationError(reader.problems);
    const { handle, ...options } = given;
    delete options.isGlobal;
    return {
      module: RaindropThreadModule,
      global: isGlobal,
      providers: [{ provide: SharedIds, useValue: openSharedIds(handle, options) }],
      exports: [SharedIds],
    };
  }
}
