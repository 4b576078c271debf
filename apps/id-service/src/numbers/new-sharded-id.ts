import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsString, Length, Max, Min } from 'class-validator';

const APP = { message: 'app must be an integer from 0 to 255' };
const GATE_PASS = { message: 'gatePass must be a text of 1 to 512 characters' };

/** The body of POST /v1/sharded-ids. */
export class NewShardedId {
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 255, example: 1, description: 'A registered app.' })
  @IsInt(APP)
  @Min(0, APP)
  @Max(255, APP)
  readonly app!: number;

  @ApiProperty({ example: '13900139000', minLength: 1, maxLength: 512, description: 'Who asks: it chooses the shard.' })
  @IsString(GATE_PASS)
  @Length(1, 512, GATE_PASS)
  readonly gatePass!: string;
}

/** The answer. */
export class ShardedId {
  @ApiProperty({ example: '28673' })
  readonly id!: string;
}
