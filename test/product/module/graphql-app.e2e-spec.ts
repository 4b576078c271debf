import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Logger, Module, type INestApplication } from '@nestjs/common';
import { APP_FILTER, NestFactory } from '@nestjs/core';
import {
  AbstractGraphQLDriver,
  Args,
  Field,
  GraphQLModule,
  ObjectType,
  Query,
  Resolver,
  type GqlModuleOptions,
} from '@nestjs/graphql';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { InvalidCodeError, RaindropExceptionFilter } from '@raindrop/nestjs';
import { SnowflakeScalar, snowflakeScalar } from '@raindrop/nestjs/graphql';
import { graphql } from 'graphql';

const id = 2n ** 63n - 1n;
const OrderId = snowflakeScalar({ name: 'OrderId', prefix: 'order', as: 'bigint' });

/** The least that a driver can be: it answers POST requests with what `graphql` makes of them. */
class PlainDriver extends AbstractGraphQLDriver {
  start({ schema }: GqlModuleOptions): Promise<void> {
    const { httpAdapter } = this.httpAdapterHost;
    httpAdapter.post('/graphql', async (request: { body: { query: string; variables?: object } }, reply: unknown) => {
      const { query: source, variables } = request.body;
      const variableValues = variables as Record<string, unknown> | undefined;
      httpAdapter.reply(reply, await graphql({ schema: schema!, source, variableValues, contextValue: {} }), 200);
    });
    return Promise.resolve();
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}

@ObjectType()
class Order {
  @Field(() => SnowflakeScalar)
  readonly customer!: string;

  @Field(() => OrderId)
  readonly id!: bigint;
}

@Resolver(() => Order)
class OrderResolver {
  @Query(() => Order)
  order(@Args('id', { type: () => OrderId }) given: bigint): Order {
    return { id: given, customer: `${given}` };
  }

  @Query(() => SnowflakeScalar)
  echo(@Args('id', { type: () => SnowflakeScalar }) given: string): string {
    return given;
  }

  @Query(() => SnowflakeScalar)
  fail(): string {
    throw new InvalidCodeError('');
  }
}

/** Schema-first: the name is in a text, and the scalar among the resolvers. */
const FIRST = { typeDefs: 'scalar Snowflake type Query { echo(id: Snowflake!): Snowflake! fail: Snowflake }' };

@Resolver()
class EchoResolver {
  @Query('echo')
  echo(@Args('id') given: string): string {
    return given;
  }

  @Query('fail')
  fail(): string {
    throw new InvalidCodeError('');
  }
}

const providers = [{ provide: APP_FILTER, useClass: RaindropExceptionFilter }];

@Module({
  imports: [GraphQLModule.forRoot({ driver: PlainDriver, autoSchemaFile: true })],
  providers: [...providers, OrderResolver],
})
class CodeFirstModule {}

@Module({
  imports: [GraphQLModule.forRoot({ driver: PlainDriver, ...FIRST, resolvers: { Snowflake: SnowflakeScalar } })],
  providers: [...providers, EchoResolver],
})
class SchemaFirstModule {}

describe.each([
  ['code-first', CodeFirstModule],
  ['schema-first', SchemaFirstModule],
])('A Nest application that is %s', (kind, module) => {
  let app: INestApplication;
  let url: string;

  beforeAll(async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => {});
    app = await NestFactory.create(module, new FastifyAdapter(), { logger: false, abortOnError: false });
    await app.listen(0, '127.0.0.1');
    url = `http://127.0.0.1:${(app.getHttpServer() as { address(): AddressInfo }).address().port}/graphql`;
  });

  afterAll(async () => {
    await app?.close();
    jest.restoreAllMocks();
  });

  async function ask(query: string, variables = ''): Promise<{ data?: unknown; errors?: { message: string }[] }> {
    const body = `{"query":${JSON.stringify(query)}${variables && `,"variables":${variables}`}}`;
    const answer = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    return (await answer.json()) as { data?: unknown };
  }

  it('takes texts, and numbers in the query itself', async () => {
    const echoed = { data: { echo: `${id}` } };
    expect(await ask(`{ echo(id: "${id}") }`)).toEqual(echoed);
    expect(await ask(`{ echo(id: ${id}) }`)).toEqual(echoed);
    expect(await ask('query($id: Snowflake!) { echo(id: $id) }', `{"id":"${id}"}`)).toEqual(echoed);
  });

  it('refuses numbers in JSON', async () => {
    for (const number of ['1', `${id}`]) {
      const { data, errors } = await ask('query($id: Snowflake!) { echo(id: $id) }', `{"id":${number}}`);
      expect([data, errors![0]!.message]).toEqual([undefined, expect.stringContaining('Snowflake must be') as string]);
    }
  });

  it('tells of an error of Raindrop in its own way, with the filter registered', async () => {
    const { errors } = await ask('{ fail }');
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('code') as string })]);
  });

  if (kind === 'schema-first') return;

  it('answers with typed IDs of bigints', async () => {
    const { data } = await ask('{ order(id: "order_AzL8n0Y58m7") { id customer } }');
    expect(data).toEqual({ order: { id: 'order_AzL8n0Y58m7', customer: `${id}` } });
  });
});
