import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';

/** How the numbers of each series look; both begin anew with the year. */
export const SERIES = { invoice: 'INV-{yyyy}-{seq:6}', 'credit-note': 'CN-{yyyy}-{seq:6}' } as const;

const NAMES = Object.keys(SERIES) as (keyof typeof SERIES)[];

/** The body of POST /v1/business-numbers. */
export class NewBusinessNumber {
  @ApiProperty({ enum: NAMES, example: 'invoice' })
  @IsIn(NAMES, { message: `series must be one of ${NAMES.join(', ')}` })
  readonly series!: keyof typeof SERIES;

  @ApiPropertyOptional({
    example: 'acme',
    minLength: 1,
    maxLength: 64,
    description: 'A tenant, with numbers of its own.',
  })
  @IsOptional()
  @Matches(/^[\w.-]{1,64}$/, { message: 'tenant must be a text of 1 to 64 letters, digits or any of . _ -' })
  readonly tenant?: string;
}

/** The answer. */
export class BusinessNumber {
  @ApiProperty({ example: 'INV-2026-000001' })
  readonly number!: string;
}
