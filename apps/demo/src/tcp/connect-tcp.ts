import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { DemoConfig } from '../demo-config.js';
import { IdsTcpController } from './ids.tcp-controller.js';
import { IdsTcpServer } from './ids-tcp-server.js';
import { TcpProblemFilter } from './tcp-problem.filter.js';

/** Longer messages end their connection: the largest request of ours has some 2,500 characters. */
const MAX_MESSAGE_CHARACTERS = 65_536;

/** More than all answers to one connection at a time, should it read none of them. */
const MAX_UNREAD_BYTES = 32 * 2 ** 20;

/** Nest's TCP transport beside HTTP, when it has a port. It listens after `app.startAllMicroservices()`. */
export function connectTcp(app: NestFastifyApplication, { host, tcpPort }: Pick<DemoConfig, 'host' | 'tcpPort'>): void {
  if (tcpPort === undefined) return;
  const limits = { maxBufferSize: MAX_MESSAGE_CHARACTERS, maxSendBufferSize: MAX_UNREAD_BYTES };
  const { door } = app.get(IdsTcpController);
  app.connectMicroservice({
    strategy: new IdsTcpServer({ host, port: tcpPort, ...limits }, door, app.get(TcpProblemFilter)),
  });
}
