import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { remoteIds } from '../../libs/nestjs/src/remote/http/remote-ids.js';
import { RemoteIdService } from '../../libs/nestjs/src/remote/remote-id.service.js';
import { remoteIdsTcp } from '../../libs/nestjs/src/remote/tcp/remote-ids-tcp.js';

/** A process that takes IDs for a while and then has nothing more to do: it closes nothing, and ends. */
async function main([way, port, forMs]: readonly string[]): Promise<void> {
  const source = way === 'http' ? remoteIds({ url: `http://127.0.0.1:${port}` }) : remoteIdsTcp({ port: Number(port) });
  const ids = await RemoteIdService.open(source);
  const taken = await ids.nextStringsAsync(100);
  for (const until = performance.now() + Number(forMs); performance.now() < until; await sleep(20)) {
    // There may be no service any more: then there are none, and nothing else happens.
    taken.push(...(await ids.nextStringsAsync(5, undefined, { timeoutMs: 10 }).catch(() => [])));
  }
  process.stdout.write(taken.join());
}

void main(process.argv.slice(2));
