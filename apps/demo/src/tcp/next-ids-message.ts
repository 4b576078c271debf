import { IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator';

const COUNT = { message: 'count must be an integer from 1 to 10000' };
const CODE = { message: 'code must be a text of 1 to 128 characters' };
const API_KEY = { message: 'apiKey must be a text' };

/** The data of `ids.next`. */
export class NextIdsMessage {
  @IsInt(COUNT)
  @Min(1, COUNT)
  @Max(10_000, COUNT)
  readonly count: number = 1;

  @IsOptional()
  @IsString(CODE)
  @Length(1, 128, CODE)
  readonly code?: string;

  /** With `API_KEYS_FOR=all`: messages have no headers. */
  @IsOptional()
  @IsString(API_KEY)
  readonly apiKey?: string;
}
