import { Catch, ServiceUnavailableException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** A bad report is an answer like a good one, and no problem: it says of each part how it is. */
@Catch(ServiceUnavailableException)
export class HealthReportFilter implements ExceptionFilter<ServiceUnavailableException> {
  catch(error: ServiceUnavailableException, host: ArgumentsHost): void {
    void host.switchToHttp().getResponse<FastifyReply>().code(503).send(error.getResponse());
  }
}
