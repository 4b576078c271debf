import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';

/** Serves the page at /docs, and the OpenAPI document it shows at /docs-json. */
export function serveOpenApi(app: NestFastifyApplication): void {
  const description = new DocumentBuilder()
    .setTitle('Raindrop demo')
    .setDescription(
      'Distributed 63-bit IDs. In JSON they are strings: JavaScript would round them as numbers. Every error is a ' +
        'problem (RFC 9457) with a stable `errorCode`.',
    )
    .setVersion('1')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'One of API_KEYS.' })
    .addApiKey({ type: 'apiKey', name: 'X-API-Key', in: 'header', description: 'The same.' }, 'key')
    .build();
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, description), {
    customSiteTitle: 'Raindrop demo',
    raw: ['json'],
    swaggerOptions: { tryItOutEnabled: true },
  });
}
