// What the ID service is measured against, in a process of its own: a bare Fastify server with one answer.
import Fastify from 'fastify';

const { headers, body } = JSON.parse(process.argv[2]);
const server = Fastify({ logger: false });
server.post('/v1/ids', (request, reply) => {
  reply.code(201).headers(headers).send(body);
});
const url = await server.listen({ port: 0, host: '127.0.0.1' });
console.log(`listening at ${url}`);
