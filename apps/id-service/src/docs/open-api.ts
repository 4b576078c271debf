import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { idPaths, idSchemas } from '../ids/id-routes.js';
import { Problem } from '../problems/problem.js';

type Description = ReturnType<DocumentBuilder['build']>;

/** Serves the page at /docs, and the OpenAPI document it shows at /docs-json. */
export function serveOpenApi(app: NestFastifyApplication): void {
  const description = new DocumentBuilder()
    .setTitle('Raindrop')
    .setDescription(
      'Distributed 63-bit IDs. In JSON they are strings: JavaScript would round them as numbers. Every error is a ' +
        'problem (RFC 9457) with a stable `errorCode`, also those that no operation lists because every request can ' +
        'get them: 404 and 405 (with `Allow`) for unknown routes and methods, 408 and 431 for malformed HTTP.',
    )
    .setVersion('1')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'One of API_KEYS.' })
    .addApiKey({ type: 'apiKey', name: 'X-API-Key', in: 'header', description: 'The same.' }, 'key')
    .build();
  leaveQueryOut(app);
  // Made before the service serves: on the first request it would block the event loop for 115 ms.
  SwaggerModule.setup('docs', app, documentOf(app, description), {
    customSiteTitle: 'Raindrop',
    raw: ['json'],
    // Without a validator: the page calls no other server.
    swaggerOptions: { tryItOutEnabled: true, validatorUrl: null },
  });
}

/**
 * Sends `/docs/?x` to `/docs`: Swagger names its files by whether the whole URL ends with a slash, and would name
 * `/docs/docs/swagger-ui.css`.
 */
function leaveQueryOut(app: NestFastifyApplication): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRoute', (route) => {
      if (route.url !== '/docs' || route.method !== 'GET') return;
      route.preHandler = (request, reply, done) => {
        // Relative: a proxy may serve this below a path of its own.
        if (request.url.includes('/?')) void reply.redirect('../docs');
        else done();
      };
    });
}

function documentOf(app: NestFastifyApplication, description: Description): OpenAPIObject {
  const document = SwaggerModule.createDocument(app, description);
  const schemas = { ...document.components!.schemas, ...idSchemas };
  // Members that no decorator can name: `workerId`, `retryAfterSeconds`.
  // Of any type, for generated clients: TypeScript takes an index for the members that have names, too.
  const own = { additionalProperties: { description: "The error's own numbers." } };
  Object.assign(schemas[Problem.name]!, own);
  // The routes that are not Nest's come first, before the one that takes an ID apart.
  return { ...document, paths: { ...idPaths, ...document.paths }, components: { ...document.components, schemas } };
}
