import { ApiPropertyOptional } from '@nestjs/swagger';
import { codecs, type CodecName } from '@raindrop/nestjs';
import { IsIn } from 'class-validator';

const FORMATS = Object.keys(codecs) as CodecName[];

/** A query's `format`: how IDs are written. */
export function IdFormat(): PropertyDecorator {
  return (target, property) => {
    IsIn(FORMATS, { message: `format must be one of ${FORMATS.join(', ')}` })(target, property);
    ApiPropertyOptional({ enum: FORMATS, default: 'decimal', description: 'How IDs are written.' })(target, property);
  };
}
