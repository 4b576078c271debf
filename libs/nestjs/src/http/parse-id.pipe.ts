import {
  type ArgumentMetadata,
  HttpStatus,
  Injectable,
  Optional,
  type ParseIntPipeOptions,
  type PipeTransform,
} from '@nestjs/common';
import { HttpErrorByCode } from '@nestjs/common/utils/http-error-by-code.util.js';
import type { IdTextOptions, ParsedIdForm } from '@raindrop/core';
import { type HeldId, ID_FORMS, idText, type IdText, OptionReader, refuseLostCodec } from '@raindrop/core/internal';

type Form = ParsedIdForm | undefined;

/** Nest's own three options are those of `ParseIntPipe`: `optional`, `errorHttpStatusCode`, `exceptionFactory`. */
export interface ParseIdPipeOptions<
  As extends Form = Form,
  Prefix extends string | undefined = string | undefined,
  IsOptional extends boolean = boolean,
  Each extends boolean = boolean,
>
  extends Omit<IdTextOptions, 'prefix'>, Omit<ParseIntPipeOptions, 'optional'> {
  /** Default `decimal`; with a prefix `text`, as typed columns hold it. */
  as?: As;
  /** For typed IDs: the text before the `_`. */
  prefix?: Prefix;
  /** Whether null and undefined pass as they are. Default false. */
  optional?: IsOptional;
  /** Whether the value is a list of IDs, such as Nest's `ParseArrayPipe` gives. Default false. */
  each?: Each;
}

/** The type that a {@link ParseIdPipe} with these options gives. */
export type ParsedIdParameter<
  As extends Form,
  Prefix extends string | undefined,
  IsOptional extends boolean,
  Each extends boolean = false,
> =
  | (Each extends true ? HeldId<As, Prefix>[] : HeldId<As, Prefix>)
  | (true extends IsOptional ? null | undefined : never);

/**
 * Reads an ID from a route, a query or a field of a body, as a class or an instance:
 *
 *     find(@Param('id', ParseIdPipe) id: string)
 *     find(@Param('id', new ParseIdPipe({ as: 'bigint' })) id: bigint)
 *     find(@Param('id', new ParseIdPipe({ prefix: 'order' })) id: TypedId<'order'>)
 *     list(@Query('ids', new ParseArrayPipe(), new ParseIdPipe({ each: true })) ids: string[])
 *
 * Only the one text that the codec writes for an ID from 0 to 2^63 - 1 is accepted: no sign, white space or leading
 * zero. Everything else (a list without `each`, a number of a JSON body, nothing without `optional`) is a 400 that
 * names the parameter and says what is legal, and does not show what was sent. A codec of your own must throw
 * `InvalidIdError`.
 */
@Injectable()
export class ParseIdPipe<
  const As extends Form = undefined,
  const Prefix extends string | undefined = undefined,
  const IsOptional extends boolean = false,
  const Each extends boolean = false,
> implements PipeTransform<unknown, ParsedIdParameter<As, Prefix, IsOptional, Each>> {
  private readonly text: IdText;
  private readonly as: ParsedIdForm;
  private readonly optional: boolean;
  private readonly each: boolean;
  private readonly exceptionFactory: (message: string) => unknown;

  /** @throws ConfigurationError when an option is not legal */
  constructor(@Optional() options?: ParseIdPipeOptions<As, Prefix, IsOptional, Each>) {
    const reader = new OptionReader(options ?? {});
    this.as = reader.oneOf('as', ID_FORMS, reader.value('prefix') === undefined ? 'decimal' : 'text');
    this.optional = reader.boolean('optional', false);
    this.each = reader.boolean('each', false);
    this.exceptionFactory = readExceptionFactory(reader);
    refuseLostCodec(reader, options);
    reader.finish();
    this.text = idText({ prefix: options?.prefix, codec: options?.codec });
  }

  /** @throws BadRequestException, or what the options say, when `value` is not an ID */
  transform(value: unknown, metadata: ArgumentMetadata): ParsedIdParameter<As, Prefix, IsOptional, Each> {
    return this.readAll(value, metadata) as ParsedIdParameter<As, Prefix, IsOptional, Each>;
  }

  private readAll(value: unknown, { data, type }: ArgumentMetadata): unknown {
    if (this.optional && (value === undefined || value === null)) return value;
    const name = data ?? type;
    if (!this.each) return this.read(value, name);
    if (!Array.isArray(value)) throw this.exceptionFactory(`${name} must be a list, and each item ${this.text.legal}`);
    return value.map((item: unknown, index) => this.read(item, `${name}[${index}]`));
  }

  private read(value: unknown, name: string): bigint | string {
    const id = this.text.read(value);
    if (id === undefined) throw this.exceptionFactory(`${name} ${this.text.rule}`);
    if (this.as === 'text') return value as string;
    return this.as === 'bigint' ? id : id.toString();
  }
}

function readExceptionFactory(reader: OptionReader): (message: string) => unknown {
  const factory = reader.value('exceptionFactory');
  const status = reader.value('errorHttpStatusCode') ?? HttpStatus.BAD_REQUEST;
  if (typeof status !== 'number' || !Object.hasOwn(HttpErrorByCode, status)) {
    const legal = Object.keys(HttpErrorByCode).join(', ');
    reader.problem('errorHttpStatusCode', status, `must be the status of one of Nest's exceptions: ${legal}`);
  }
  if (typeof factory === 'function') return factory as (message: string) => unknown;
  if (factory !== undefined) reader.problem('exceptionFactory', factory, 'must be a function of the message');
  return (message) => new HttpErrorByCode[status as keyof typeof HttpErrorByCode](message);
}
