import { type ConnectionOptions, createSecureContext } from 'node:tls';
import type { ClientTCP } from '@nestjs/microservices';
import { createRequire } from 'node:module';
import type { OptionReader } from '@raindrop/core/internal';
import { isMissingPackage, loadPackage, readApiKey, remoteIdSource } from '@raindrop/node/internal';
import type { RemoteFetchOptions, RemoteIdSource } from '@raindrop/node/remote';
import { ConfigurationError } from '@raindrop/core';
import { TcpTransport } from './tcp-transport.js';

export interface RemoteIdsTcpOptions extends RemoteFetchOptions {
  /** Default `127.0.0.1`. */
  host?: string;
  /** 1-65,535. */
  port: number;
  /** Sent with every message; 1-1,024 visible ASCII characters. Default: none. It is never logged. */
  apiKey?: string | undefined;
  /** Makes it a TLS connection, as in `tls.connect`. Default: none. */
  tlsOptions?: ConnectionOptions | undefined;
}

/** A name, or an address of either kind, without brackets. */
const HOST = /^[\w.:%-]{1,253}$/;

/** All answers that can come in one piece, and then some. */
const MAX_BUFFERED_CHARACTERS = 1_000_000;

/**
 * Does what {@link remoteIds} does, but by Nest's TCP transport: the service is a Nest microservice. Needs
 * `@nestjs/microservices`, which is loaded when the source is opened.
 */
export function remoteIdsTcp(options: RemoteIdsTcpOptions): RemoteIdSource {
  return remoteIdSource('remoteIdsTcp()', options, (reader) => {
    const host = reader.string('host', { fallback: '127.0.0.1', pattern: HOST, legal: 'a host name or address' });
    const port = reader.integer('port', { min: 1, max: 65_535 });
    const apiKey = readApiKey(reader);
    const tlsOptions = readTls(reader);
    return async () => {
      const newClient = await loadClientTcp();
      const makeClient = (): ClientTCP =>
        newClient({
          ...{ host, port, maxBufferSize: MAX_BUFFERED_CHARACTERS },
          ...(tlsOptions !== undefined && { tlsOptions }),
        });
      const address = host.includes(':') ? `[${host}]` : host;
      return new TcpTransport(`the ID service at tcp://${address}:${port}`, makeClient, apiKey);
    };
  });
}

function readTls(reader: OptionReader): ConnectionOptions | undefined {
  const given = reader.value('tlsOptions');
  if (given === undefined) return undefined;
  try {
    if (typeof given !== 'object' || given === null) throw new TypeError('no object');
    createSecureContext(given);
    return given;
  } catch {
    // Neither it nor the reason is shown: it may be a key.
    reader.problem('tlsOptions', `(${typeof given})`, 'must be an object with options of tls.connect');
    return undefined;
  }
}

type Options = ConstructorParameters<typeof ClientTCP>[0];

/**
 * Makes clients of Nest's TCP transport, from a package that only those need who use it. They write nothing to the log:
 * what goes wrong is told to who waits for an answer.
 * @throws ConfigurationError when it is not installed
 */
export async function loadClientTcp(): Promise<(options: Options) => ClientTCP> {
  const { ClientTCP } = await load();
  class QuietClientTcp extends ClientTCP {
    override handleError(): void {}
  }
  return (options) => new QuietClientTcp(options);
}

async function load(): Promise<Pick<typeof import('@nestjs/microservices'), 'ClientTCP'>> {
  try {
    const name = '@nestjs/microservices';
    return await loadPackage(
      () => createRequire(__filename)(name) as typeof import('@nestjs/microservices'),
      () => import('@nestjs/microservices'),
    );
  } catch (error) {
    if (!isMissingPackage(error, '@nestjs/microservices')) throw error;
    const problem = 'needs the package @nestjs/microservices: npm install @nestjs/microservices, or use remoteIds()';
    throw new ConfigurationError([{ option: 'idSource', given: 'remoteIdsTcp()', message: problem }]);
  }
}
