import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform, type TransformFnParams } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';

/** An integer in a query; the property's initial value stands in when it is not given. */
export function QueryInteger(range: { min: number; max: number; default: number }): PropertyDecorator {
  const { min, max } = range;
  return (target, property) => {
    const rule = { message: `${String(property)} must be an integer from ${min} to ${max}` };
    const decorators = [
      ApiPropertyOptional({ type: 'integer', minimum: min, maximum: max, default: range.default }),
      // Not Number(): it would take '', ' 5 ', '1e3' and '0x10'.
      Transform(({ value }: TransformFnParams) => (/^\d{1,9}$/.test(String(value)) ? Number(value) : NaN)),
      IsInt(rule),
      Min(min, rule),
      Max(max, rule),
    ];
    for (const decorate of decorators) decorate(target, property);
  };
}
